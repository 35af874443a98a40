#!/usr/bin/env bash
# Checks object stores against other projects' servers: versitygw for s3://, fake-gcs-server
# for gs:// and azurite for azblob://. It counts ranged reads in versitygw's access log. It
# needs Go and the module proxy, and node and npm for azurite. What is missing is skipped,
# which is a failure if CI is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT

say() { printf '%s (after %d s)\n' "$1" "$SECONDS"; }
fail() {
  echo "objectstores: $1" >&2
  exit 1
}

# Only the credentials that are set here may be found.
unset "${!AWS_@}" "${!AZURE_@}" STORAGE_EMULATOR_HOST GOOGLE_APPLICATION_CREDENTIALS
export AWS_ACCESS_KEY_ID=tester AWS_SECRET_ACCESS_KEY=verysecret AWS_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null

GOBIN="$scratch/bin" go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
GOBIN="$scratch/bin" go install github.com/fsouza/fake-gcs-server@v1.56.1
build
go build -o "$scratch/bin/objects" ./scripts/integration/objects
PATH=$scratch/bin:$scratch:$PATH
say "built"

# Half a million URLs as uncompressed Arrow; a Parquet table of twenty columns; captures.
cd "$scratch"
(cd "$OLDPWD" && go run ./bench/corpus/gen -out "$scratch" -origins 500 -urls 500000 -formats arrow)
robotsbatch -in frontier.arrow -rules rules -prefix first_ -compression none -out plain.arrow -quiet
awk 'BEGIN {
  printf "url"; for (c = 1; c < 20; c++) printf ",c%d", c; print ""
  for (r = 0; r < 100000; r++) {
    printf "https://www.host%d.example/%d", r / 50, r * 7919
    for (c = 1; c < 20; c++) printf ",%x", (r + 1) * (c + 7) * 2654435761 % 4294967296
    print ""
  }
}' >wide.csv
robotsbatch -in wide.csv -rules rules -prefix first_ -out wide.parquet -quiet
for file in rules/*; do
  response=$(printf 'HTTP/1.1 200 OK\r\n\r\n' && cat "$file" && printf .)
  response=${response%.}
  printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://%s/robots.txt\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n' \
    "$(basename "$file")" "$(printf %s "$response" | wc -c)" "$response"
done 2>/dev/null | gzip >crawl.warc.gz
say "corpus made"

# retry COMMAND... repeats a command until it succeeds, for a while.
retry() {
  for _ in {1..100}; do
    "$@" 2>/dev/null && return
    sleep 0.1
  done
  "$@"
}

port=$(objects port)
counting=$(objects port)
region="region=us-east-1&use_path_style=true"
direct="$region&endpoint=http://127.0.0.1:$port"
counted="$region&endpoint=http://127.0.0.1:$counting"
mkdir s3 meta
serve() {
  versitygw --quiet --keep-alive --port "127.0.0.1:$port" --access tester --secret verysecret \
    posix --sidecar "$scratch/meta" "$scratch/s3" >gateway.log 2>&1 &
  gateway=$!
  started+=("$gateway")
}
stop() {
  kill -9 "$gateway"
  wait "$gateway" 2>/dev/null || true
}
objects proxy "$counting" "$port" bytes.log &
started+=("$!")
serve
objects make "s3://bucket?$direct" || { cat gateway.log; fail "versitygw does not start"; }
for file in frontier.arrow plain.arrow wide.parquet crawl.warc.gz; do
  objects copy "$file" "s3://bucket/in/$file?$direct"
done
say "versitygw has the inputs"

# job INPUT RULES OUTPUT FLAG... runs the job.
job() {
  robotsbatch -in "$1" -rules "$2" -agent CCBot -out "$3" -quiet "${@:4}"
}
# fetched fails if more requests for objects, or bytes of their bodies, than given were
# counted since the log was emptied.
fetched() {
  local requests bytes
  requests=$(wc -l <bytes.log)
  bytes=$(awk '{ sum += $1 } END { print sum + 0 }' bytes.log)
  echo "  $1: $requests requests, $bytes bytes"
  ((requests > 0 && requests <= $2 && bytes <= $3)) || fail "$1: more than $2 requests or $3 bytes, or none"
  : >bytes.log
}
size() { stat -c %s "$1"; }

: >bytes.log
for file in frontier.arrow plain.arrow; do
  job $file rules local.arrow
  job "s3://bucket/in/$file?$counted" rules remote.arrow
  cmp local.arrow remote.arrow
  fetched "$file of $(size $file) bytes" $(($(size $file) / 4000000 + 10)) $(($(size $file) + 200000))
done
job wide.parquet rules local.csv -columns verdict
job "s3://bucket/in/wide.parquet?$counted" rules remote.csv -columns verdict
cmp local.csv remote.csv
fetched "the verdicts of wide.parquet of $(size wide.parquet) bytes" 10 $(($(size wide.parquet) / 8))
job wide.parquet rules local.parquet
job "s3://bucket/in/wide.parquet?$counted" rules remote.parquet
cmp local.parquet remote.parquet
# Row groups pass through: their bytes are read once, and the URLs' column once more.
fetched "all of wide.parquet" 30 $(($(size wide.parquet) * 11 / 10 + 200000))
job frontier.arrow crawl.warc.gz local.arrow
job frontier.arrow "s3://bucket/in/crawl.warc.gz?$counted" remote.arrow
cmp local.arrow remote.arrow
fetched "crawl.warc.gz of $(size crawl.warc.gz) bytes" 10 $(($(size crawl.warc.gz) + 200000))
say "s3:// is read by ranges"

# An output is written whole, in parts if it is large, and not at all if the job fails.
job plain.arrow rules local.arrow -compression none
job "s3://bucket/in/plain.arrow?$direct" rules "s3://bucket/out/plain.arrow?$direct" -compression none
objects copy "s3://bucket/out/plain.arrow?$direct" remote.arrow
cmp local.arrow remote.arrow
[[ $(objects uploads "s3://bucket?$direct") == 0 ]]
head -c $(($(size plain.arrow) - 1000)) plain.arrow >cut.arrow
status=0
robotsbatch -in - -rules rules -out "s3://bucket/out/cut.arrow?$direct" -compression none -quiet <cut.arrow 2>error || status=$?
[[ $status == 1 ]] || fail "a cut input gives status $status"
[[ ! -e s3/bucket/out/cut.arrow ]] || fail "a job that failed has left an object"
[[ $(objects uploads "s3://bucket?$direct") == 0 ]] || fail "a job that failed has left parts of an upload"
say "s3:// is written whole or not at all"

# Kill the server while the job waits for the reader of its output. With little memory it
# cannot have read the second input by then.
twice=(-columns url -out-format csv)
ln plain.arrow again.arrow
objects copy again.arrow "s3://bucket/in/again.arrow?$direct"
job plain.arrow rules local.csv "${twice[@]}" -in again.arrow
mkfifo slow
for outcome in dead back; do
  attempts=2
  [[ $outcome == dead ]] || attempts=6
  AWS_MAX_ATTEMPTS=$attempts job "s3://bucket/in/plain.arrow?$direct" rules - "${twice[@]}" \
    -in "s3://bucket/in/again.arrow?$direct" -memory 48MiB >slow 2>error &
  job=$!
  exec 3<slow
  IFS= read -r header <&3
  stop
  { echo "$header" && cat <&3; } >remote.csv &
  reader=$!
  exec 3<&-
  if [[ $outcome == back ]]; then
    sleep 2
    serve
  fi
  status=0
  wait "$job" || status=$?
  wait "$reader"
  if [[ $outcome == dead ]]; then
    [[ $status == 75 ]] || fail "a server that was killed gives status $status"
    grep -qE 's3://bucket/in/(plain|again).arrow: ' error || fail "it does not say what it could not read: $(cat error)"
    serve
    retry objects uploads "s3://bucket?$direct" >/dev/null
  else
    [[ $status == 0 ]] || fail "a server that was started again gives status $status: $(cat error)"
    cmp local.csv remote.csv
  fi
done
say "a server may go away for a while"
! grep -rq verysecret error gateway.log

# One round trip with each of the other stores.
round_trip() {
  objects make "$1"
  objects copy frontier.arrow "${1%%\?*}/in.arrow"
  job frontier.arrow rules local.parquet
  job "${1%%\?*}/in.arrow" rules "${1%%\?*}/out/out.parquet"
  objects copy "${1%%\?*}/out/out.parquet" remote.parquet
  cmp local.parquet remote.parquet
  # In several parts.
  objects copy plain.arrow "${1%%\?*}/plain.arrow"
  objects copy "${1%%\?*}/plain.arrow" remote.arrow
  cmp plain.arrow remote.arrow
  job frontier.arrow rules local.csv -columns url
  job "${1%%\?*}/*.arrow" "${1%%\?*}/rules/" "${1%%\?*}/csv/" -columns url -out-format csv 2>error && fail "a folder without rules is none"
  grep -q "has no objects" error || fail "$(cat error)"
}
port=$(objects port)
fake-gcs-server -backend memory -scheme http -host 127.0.0.1 -port "$port" -public-host "127.0.0.1:$port" -log-level error >gcs.log 2>&1 &
started+=("$!")
export STORAGE_EMULATOR_HOST=127.0.0.1:$port
round_trip gs://bucket
say "gs:// went there and back"

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  skip "node with npm is not installed, for azblob://"
fi
npm install --silent --no-audit --no-fund --ignore-scripts --prefix azurite azurite@3.35.0
port=$(objects port)
node azurite/node_modules/azurite/dist/src/blob/main.js --silent --skipApiVersionCheck --inMemoryPersistence \
  --blobHost 127.0.0.1 --blobPort "$port" >azurite.log 2>&1 &
started+=("$!")
# Every azurite has this account with this public key.
export AZURE_STORAGE_ACCOUNT=devstoreaccount1 AZURE_STORAGE_DOMAIN=127.0.0.1:$port AZURE_STORAGE_PROTOCOL=http
export AZURE_STORAGE_KEY=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==
round_trip azblob://bucket
say "azblob:// went there and back"
