# shellcheck shell=bash
# Sourced by scripts/measure.sh: builds the runners of all libraries in a cache folder, in the
# versions that this folder pins, and lists them in $scratch/runners. A language without
# toolchain is skipped.
# shellcheck disable=SC2154  # commit, google and scratch are set where this is sourced

peers=$PWD/bench/peers
cache=${XDG_CACHE_HOME:-$HOME/.cache}/robotsbatch-peers
mkdir -p "$cache"

# runner NAME LANGUAGE COMMAND... adds a runner to the list. With an empty command and a
# reason, the runner is skipped.
runner() {
  local IFS=$'\t'
  echo "$*" >>"$scratch/runners"
}

# make_runner NAME LANGUAGE TOOL FUNCTION builds a runner. If that fails, the runner is skipped
# with its reason.
make_runner() {
  local name=$1 language=$2 tool=$3 build=$4 log=$cache/$4.log
  if ! command -v "$tool" >/dev/null; then
    runner "$name" "$language" "" "$tool is not installed"
  elif ! "$build" >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    runner "$name" "$language" "" "building failed"
  else
    return 0
  fi
  return 1
}

# stale FILE... succeeds if something was installed from other versions of these files, or
# never; fresh FILE... records that it is installed now.
stale() { ! cmp -s <(cat "$@") "$cache/$(basename "$1").installed"; }
fresh() { cat "$@" >"$cache/$(basename "$1").installed"; }

# bash does not stop a function at the first error if its status is tested, so it needs &&.
build_temoto() { (cd "$peers/temoto" && go build -o "$cache/temoto" .); }

build_rust() {
  CARGO_TARGET_DIR=$cache/rust cargo build --quiet --release --locked --manifest-path "$peers/rust/Cargo.toml"
}

build_protego() {
  local pinned=$peers/protego/requirements.txt
  if stale "$pinned" || ! "$cache/protego/bin/python" -c 'import protego'; then
    python3 -m venv --clear "$cache/protego" &&
      "$cache/protego/bin/pip" install --quiet --require-hashes -r "$pinned" &&
      fresh "$pinned"
  fi
}

build_robots_parser() {
  local pinned=$peers/robots-parser/package-lock.json
  mkdir -p "$cache/robots-parser" && cp "$peers"/robots-parser/*.js* "$cache/robots-parser" || return
  if stale "$pinned"; then
    (cd "$cache/robots-parser" && npm ci --silent --ignore-scripts) && fresh "$pinned"
  fi
}

build_crawler_commons() {
  local pinned=$peers/crawler-commons/pom.xml jars=$cache/crawler-commons
  if stale "$pinned"; then
    rm -rf "$jars" &&
      mvn --quiet --batch-mode --file "$pinned" \
        org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$jars" &&
      fresh "$pinned" || return
  fi
  javac -cp "$jars/*" -d "$cache/crawler-commons-classes" "$peers/crawler-commons/Runner.java"
}

# Debian has no pkg-config file for all of abseil's libraries that are needed.
build_google() {
  local version
  version=$(git -C "$google" rev-parse --short=12 HEAD 2>/dev/null && [[ -e $google/.git ]]) ||
    version="robots.cc $(sha256sum <"$google/robots.cc" | cut -c -12)"
  "${CXX:-g++}" -std=c++17 -O3 -DNDEBUG -DVERSION="\"$version\"" -I "$google" -o "$cache/google" \
    "$peers/google/runner.cc" "$google/robots.cc" -labsl_strings -labsl_strings_internal -labsl_throw_delegate \
    -labsl_int128 -labsl_raw_logging_internal -labsl_base
}

go build -ldflags "-X main.version=$commit" -o "$cache/robotsbatch" ./bench/peers/robotsbatch
golang="Go $(go env GOVERSION | sed 's/^go//')"
runner robotsbatch "$golang" "$cache/robotsbatch"
cxx="C++ ($("${CXX:-g++}" -dumpfullversion 2>/dev/null || true))"
if [[ -z $google ]]; then
  echo "SKIP google/robotstxt: -google names no folder with its source" >&2
  runner google/robotstxt C++ "" "its source was not given (-google)"
elif make_runner google/robotstxt C++ "${CXX:-g++}" build_google; then
  runner google/robotstxt "$cxx" "$cache/google"
fi
if make_runner temoto/robotstxt "$golang" go build_temoto; then
  runner temoto/robotstxt "$golang" "$cache/temoto"
fi
for crate in fast-robots texting_robots; do
  if make_runner $crate Rust cargo build_rust; then
    runner $crate "Rust $(rustc --version | cut -d ' ' -f 2)" "$cache/rust/release/${crate//-/_}"
  fi
done
if make_runner protego Python python3 build_protego; then
  runner protego "$(python3 --version)" "$cache/protego/bin/python" "$peers/protego/runner.py"
fi
if make_runner robots-parser JavaScript npm build_robots_parser; then
  runner robots-parser "JavaScript (Node.js $(node --version | sed 's/^v//'))" node "$cache/robots-parser/runner.js"
fi
if make_runner crawler-commons Java mvn build_crawler_commons; then
  runner crawler-commons "Java $(javac -version 2>&1 | cut -d ' ' -f 2)" \
    java -XX:+UseSerialGC -cp "$cache/crawler-commons/*:$cache/crawler-commons-classes" Runner
fi
