"""Converts random tables with robotsbatch and compares them with pyarrow.

usage: random_tables.py ROBOTSBATCH SCRATCH [FIRST [COUNT]]

Table number n is the same for the same n and version of pyarrow. Each is written by
pyarrow as Arrow and as Parquet and converted: Arrow to Parquet, Parquet to Arrow,
either to its own kind, whole and filtered, and to csv and jsonl. A column comes out with
its type, nullability, metadata and values, or it is cast and the summary says so
and its values are the same, or the conversion is refused by the column's name.
Anything else fails.

pyarrow cannot read Parquet of null structs around fixed-size lists that are not null,
not even its own ("Expected all lists to be of size=1 but index 1 had size=0"), nor of some
structs of views, which it does not write ("Slicing not implemented for StringView"). Such an
output is converted to Arrow by robotsbatch and compared then; how many is reported.
"""

import collections
import csv
import decimal
import json
import pathlib
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute
import pyarrow.ipc
import pyarrow.parquet as pq

binary, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
count = int(sys.argv[4]) if len(sys.argv) > 4 else 200

ZONES = ["UTC", "Europe/Berlin", "+05:30"]
OURS = {b"PARQUET:field_id", b"PARQUET:logical_type"}


def metadata(rng):
    if rng.random() < 0.7:
        return None
    return {"note": f"n{rng.randrange(100)}", **({"PARQUET:field_id": str(rng.randrange(1000))} if rng.random() < 0.5 else {})}


def leaf_type(rng):
    unit = rng.choice(["s", "ms", "us", "ns"])
    return rng.choice([
        lambda: pa.bool_(), lambda: pa.int8(), lambda: pa.int16(), lambda: pa.int32(), lambda: pa.int64(),
        lambda: pa.uint8(), lambda: pa.uint16(), lambda: pa.uint32(), lambda: pa.uint64(),
        lambda: pa.float16(), lambda: pa.float32(), lambda: pa.float64(),
        lambda: pa.string(), lambda: pa.string(), lambda: pa.large_string(), lambda: pa.string_view(),
        lambda: pa.binary(), lambda: pa.large_binary(), lambda: pa.binary_view(), lambda: pa.binary(rng.choice([0, 1, 3, 16])),
        lambda: pa.decimal128(rng.randint(1, 38), 0), lambda: pa.decimal128(20, rng.randint(0, 20)), lambda: pa.decimal256(rng.randint(39, 76), 7),
        lambda: pa.decimal32(rng.randint(1, 9), 0), lambda: pa.decimal64(rng.randint(10, 18), 2),
        lambda: pa.date32(), lambda: pa.date64(), lambda: pa.time32(rng.choice(["s", "ms"])), lambda: pa.time64(rng.choice(["us", "ns"])),
        lambda: pa.timestamp(unit), lambda: pa.timestamp(unit, rng.choice(ZONES)), lambda: pa.duration(unit),
        lambda: pa.null(), lambda: pa.month_day_nano_interval(),
        lambda: pa.dictionary(rng.choice([pa.int8(), pa.uint16(), pa.int32()]), rng.choice([pa.string(), pa.binary(), pa.int64(), pa.large_string()])),
        lambda: pa.json_(), lambda: pa.uuid(), lambda: pa.bool8(),
        lambda: pa.run_end_encoded(pa.int32(), pa.string()),
    ])()


def random_type(rng, depth):
    if depth == 0 or rng.random() < 0.55:
        return leaf_type(rng)
    child = lambda name: random_field(rng, name, depth - 1)
    return rng.choice([
        lambda: pa.list_(child("item")), lambda: pa.large_list(child("element")), lambda: pa.list_view(child("item")),
        lambda: pa.list_(child("item"), rng.choice([0, 1, 3])),
        lambda: pa.struct([child(f"f{i}") for i in range(rng.randint(1, 3))]),
        lambda: pa.map_(pa.field("key", rng.choice([pa.string(), pa.int32(), pa.uuid()]), nullable=False), child("value")),
    ])()


def random_field(rng, name, depth):
    t = random_type(rng, depth)
    nullable = pa.types.is_null(t) or pa.types.is_run_end_encoded(t) or rng.random() < 0.7
    return pa.field(name, t, nullable=nullable, metadata=metadata(rng))


def integers(rng, bits, signed, n):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    few = [rng.randint(low, high) for _ in range(3)]
    return [rng.choice(few) if rng.random() < 0.5 else rng.choice([low, high, 0, rng.randint(low, high)]) for _ in range(n)]


def text(rng):
    return "".join(rng.choice("abcé漢 \n\"',;") for _ in range(rng.choice([0, 1, 5, 12, 13, 40])))


def fixed(t, values, nulls, width):
    """An array of fixed-width values from little-endian integers."""
    data = b"".join((v & (1 << 8 * width) - 1).to_bytes(width, "little") for v in values)
    return pa.Array.from_buffers(t, len(values), [bitmap(nulls), pa.py_buffer(data)])


def bitmap(nulls):
    if not any(nulls):
        return None
    bits = bytearray((len(nulls) + 7) // 8)
    for i, null in enumerate(nulls):
        if not null:
            bits[i >> 3] |= 1 << (i & 7)
    return pa.py_buffer(bytes(bits))


def array(rng, field, n):
    """A random array of n values, sometimes sliced out of a longer one."""
    extra = rng.choice([0, 0, 1, 7])
    a = whole_array(rng, field, n + extra)
    return a.slice(extra) if extra else a


def whole_array(rng, field, n):
    t = field.type
    p = rng.choice([0, 0.2, 0.9]) if field.nullable else 0
    nulls = [rng.random() < p for _ in range(n)]
    some = lambda values: [None if null else v for v, null in zip(values, nulls)]
    types = pa.types
    if isinstance(t, pa.BaseExtensionType):
        storage = t.storage_type
        if t.extension_name == "arrow.json":
            return pa.ExtensionArray.from_storage(t, pa.array(some([json.dumps({"a": rng.randrange(9)}) for _ in range(n)]), storage))
        return pa.ExtensionArray.from_storage(t, whole_array(rng, pa.field("", storage, field.nullable), n))
    if types.is_null(t):
        return pa.nulls(n)
    if types.is_boolean(t):
        return pa.array(some([rng.random() < 0.5 for _ in range(n)]), t)
    if types.is_integer(t):
        return fixed(t, integers(rng, t.bit_width, types.is_signed_integer(t), n), nulls, t.bit_width // 8)
    if types.is_floating(t):
        return pa.array(some([rng.choice([0.0, -0.0, 1.5, -2.25, float("inf"), rng.randrange(1000) / 8]) for _ in range(n)]), t)
    if types.is_decimal(t):
        return pa.array(some([decimal.Decimal(rng.randint(-(10**t.precision) + 1, 10**t.precision - 1)).scaleb(-t.scale, decimal.Context(prec=80)) for _ in range(n)]), t)
    if types.is_date64(t):
        return fixed(t, [86_400_000 * rng.randint(-40_000, 40_000) for _ in range(n)], nulls, 8)
    if types.is_time(t):
        return fixed(t, [rng.randrange(86_400) * {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[t.unit] for _ in range(n)], nulls, t.bit_width // 8)
    if types.is_timestamp(t) or types.is_duration(t):
        return fixed(t, [rng.randint(-(10**12), 10**12) if t.unit == "s" else rng.randint(-(2**63), 2**63 - 1) for _ in range(n)], nulls, 8)
    if types.is_date32(t):
        return fixed(t, integers(rng, 32, True, n), nulls, 4)
    if types.is_interval(t):
        return pa.array(some([(1, 2, 3)] * n), t)
    if types.is_dictionary(t):
        values = pa.array([text(rng) + str(i) for i in range(4)]) if not types.is_integer(t.value_type) else pa.array([3, 1, 4, 1])
        return pa.DictionaryArray.from_arrays(pa.array(some([rng.randrange(4) for _ in range(n)]), t.index_type), values.cast(t.value_type))
    if types.is_run_end_encoded(t):
        return pa.compute.run_end_encode(pa.array(some([rng.choice("ab") for _ in range(n)]), t.value_type), run_end_type=t.run_end_type)
    if types.is_fixed_size_binary(t):
        return pa.array(some([rng.randbytes(t.byte_width) for _ in range(n)]), t)
    if types.is_string(t) or types.is_large_string(t) or types.is_string_view(t):
        few = [text(rng) for _ in range(3)]
        return pa.array(some([rng.choice(few) if rng.random() < 0.5 else text(rng) for _ in range(n)]), t)
    if types.is_binary(t) or types.is_large_binary(t) or types.is_binary_view(t):
        return pa.array(some([rng.randbytes(rng.choice([0, 3, 30])) for _ in range(n)]), t)
    mask = pa.array(nulls) if any(nulls) else None
    if types.is_struct(t):
        return pa.StructArray.from_arrays([array(rng, f, n) for f in t], fields=list(t), mask=mask)
    if types.is_fixed_size_list(t):
        return pa.FixedSizeListArray.from_arrays(whole_array(rng, t.value_field, n * t.list_size), type=t, mask=mask) if t.list_size else empty_lists(t, n, mask)
    sizes = [rng.choice([0, 1, 2, 5]) for _ in range(n)]
    if types.is_list_view(t):
        values = array(rng, t.value_field, 8)
        offsets = [rng.randrange(9 - size) for size in sizes]
        return pa.ListViewArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(sizes, pa.int32()), values, type=t, mask=mask)
    offsets = [sum(sizes[:i]) for i in range(n + 1)]
    if types.is_map(t):
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), array(rng, t.key_field, offsets[-1]), array(rng, t.item_field, offsets[-1]), type=t, mask=mask)
    kind, index = (pa.LargeListArray, pa.int64()) if types.is_large_list(t) else (pa.ListArray, pa.int32())
    return kind.from_arrays(pa.array(offsets, index), array(rng, t.value_field, offsets[-1]), type=t, mask=mask)


def empty_lists(t, n, mask):
    values = whole_array(random.Random(0), t.value_field, 0)
    valid = bitmap(mask.to_pylist()) if mask is not None else None
    return pa.Array.from_buffers(t, n, [valid], children=[values])


def random_table(rng):
    fields = [pa.field("url", rng.choice([pa.string(), pa.large_string(), pa.binary(), pa.string_view()]))]
    fields += [random_field(rng, f"c{i}", rng.choice([0, 1, 2, 3])) for i in range(rng.randint(1, 5))]
    schema = pa.schema(fields, metadata={"made": "at random"} if rng.random() < 0.5 else None)
    batches = []
    for _ in range(rng.choice([1, 1, 2, 4])):
        n = rng.choice([0, 1, 8, 9, 40])
        urls = pa.array([None if rng.random() < 0.1 else f"https://{rng.choice('ab')}.test/{rng.choice('xy')}{i}" for i in range(n)], fields[0].type)
        batches.append(pa.record_batch([urls] + [array(rng, f, n) for f in fields[1:]], schema=schema))
    return schema, batches


def write_parquet(rng, table, path):
    """Writes what pyarrow can write, column by column."""
    kept = []
    for name in table.column_names:
        if "[0]" in str(table.schema.field(name).type):  # of which pyarrow crashes
            continue
        try:
            pq.write_table(table.select([name]), path)
            pq.read_table(path).validate(full=True)
            kept.append(name)
        except Exception:  # of pyarrow's own limits, which are not the matter here
            continue
    table = table.select(kept)
    encodings = {}
    if rng.random() < 0.5:
        for i, field in enumerate(table.schema):
            t, types = field.type, pa.types
            if types.is_integer(t) and t.bit_width >= 32:
                encodings[field.name] = rng.choice(["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"])
            elif types.is_floating(t) or types.is_fixed_size_binary(t):
                encodings[field.name] = rng.choice(["PLAIN", "BYTE_STREAM_SPLIT"])
            elif types.is_string(t) or types.is_binary(t) or types.is_large_string(t):
                encodings[field.name] = rng.choice(["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
            elif types.is_boolean(t):
                encodings[field.name] = rng.choice(["PLAIN", "RLE"])
    options = dict(
        compression=rng.choice(["none", "snappy", "gzip", "brotli", "zstd", "lz4"]), row_group_size=rng.choice([1, 7, 64]),
        data_page_size=rng.choice([1, 64, 1 << 20]), data_page_version=rng.choice(["1.0", "2.0"]), version=rng.choice(["1.0", "2.4", "2.6"]),
        use_dictionary=False if encodings else rng.random() < 0.7, column_encoding=encodings or None, store_schema=rng.random() < 0.7,
        write_page_checksum=rng.random() < 0.5, use_compliant_nested_type=rng.random() < 0.8,
        store_decimal_as_integer=rng.random() < 0.3, use_deprecated_int96_timestamps=rng.random() < 0.1 or None,
    )
    try:
        pq.write_table(table, path, **options)
        return pq.read_table(path)
    except Exception:  # such as an encoding of an inner column
        options.update(column_encoding=None, version="2.6", use_deprecated_int96_timestamps=None)
        try:
            pq.write_table(table, path, **options)
            return pq.read_table(path)
        except Exception:  # pyarrow does not read what it wrote, or cannot slice views
            return None


def same_type(a, b):
    """Tells whether types are the same but for the names of inner fields of lists and maps."""
    if isinstance(a, pa.BaseExtensionType) or isinstance(b, pa.BaseExtensionType):
        return a == b
    if a.id != b.id:
        return False
    types = pa.types
    if types.is_struct(a):
        return a.num_fields == b.num_fields and all(x.name == y.name and same_field(x, y) for x, y in zip(a, b))
    if types.is_map(a):
        return a.keys_sorted == b.keys_sorted and same_field(a.key_field, b.key_field) and same_field(a.item_field, b.item_field)
    if types.is_fixed_size_list(a) and a.list_size != b.list_size:
        return False
    if types.is_nested(a) and hasattr(a, "value_field"):
        return same_field(a.value_field, b.value_field)
    return a == b


def same_field(a, b):
    known = lambda f: {k: v for k, v in (f.metadata or {}).items() if k not in OURS}
    return a.nullable == b.nullable and known(a) == known(b) and same_type(a.type, b.type)


def plain(a):
    """The values as Python has them, times as numbers."""
    if isinstance(a, pa.ChunkedArray):
        return [v for chunk in a.chunks for v in plain(chunk)]
    t, types = a.type, pa.types
    if isinstance(t, pa.BaseExtensionType):
        return plain(a.storage)
    if types.is_timestamp(t) or types.is_duration(t) or types.is_date64(t) or types.is_time64(t):
        scale = 1000 if types.is_date64(t) else {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[t.unit]
        scale = 10**6 if types.is_date64(t) else scale
        return [None if v is None else v * scale for v in a.view(pa.int64()).to_pylist()]
    if types.is_time32(t):
        return [None if v is None else v * {"s": 10**9, "ms": 10**6}[t.unit] for v in a.view(pa.int32()).to_pylist()]
    if types.is_date32(t):
        return [None if v is None else v * 86_400 * 10**9 for v in a.view(pa.int32()).to_pylist()]
    if types.is_dictionary(t):
        return plain(a.dictionary_decode())
    if types.is_run_end_encoded(t):
        return plain(pa.compute.run_end_decode(a))
    if types.is_floating(t):
        return [None if v is None else repr(v) for v in a.to_pylist()]
    valid = a.is_valid().to_pylist() if types.is_nested(t) else None
    if types.is_struct(t):
        fields = [plain(a.field(i)) if a.offset == 0 else plain(pa.compute.struct_field(a, [i])) for i in range(t.num_fields)]
        return [tuple(row) if ok else None for ok, row in zip(valid, zip(*fields))]
    if types.is_map(t):
        keys, items, offsets = plain(a.keys), plain(a.items), a.offsets.to_pylist()
        return [list(zip(keys[low:high], items[low:high])) if ok else None for ok, low, high in zip(valid, offsets, offsets[1:])]
    if types.is_fixed_size_list(t):
        values, size = plain(a.values), t.list_size
        base = a.offset
        return [values[(base + i) * size:(base + i + 1) * size] if ok else None for i, ok in enumerate(valid)]
    if types.is_list_view(t) or types.is_large_list_view(t):
        values = plain(a.values)
        return [values[low:low + size] if ok else None for ok, low, size in zip(valid, a.offsets.to_pylist(), a.sizes.to_pylist())]
    if types.is_nested(t):
        values, offsets = plain(a.values), a.offsets.to_pylist()
        return [values[low:high] if ok else None for ok, low, high in zip(valid, offsets, offsets[1:])]
    return a.to_pylist()


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path, page_checksum_verification=True)
    opened = pa.ipc.open_file(path) if path.suffix == ".arrow" else pa.ipc.open_stream(path)
    return opened.read_all()


class Difference(Exception):
    pass


def compare(want, got, notes, keep):
    cast = {note.split('"')[1] for note in notes if note.startswith("column ")}
    if not set(want.column_names) <= set(got.column_names):
        raise Difference(f"columns {got.column_names}")
    for name in want.column_names:
        a, b = want.schema.field(name), got.schema.field(name)
        if name not in cast and not same_field(a, b):
            raise Difference(f"{name}: {a} {a.metadata} came out as {b} {b.metadata}")
        if a.nullable != b.nullable:
            raise Difference(f"{name}: nullability of {a} came out as {b}")
        before, after = plain(want[name]), plain(got[name])
        if keep is not None:
            before = [v for v, kept in zip(before, keep) if kept]
        if before != after:
            raise Difference(f"{name}: {a.type}: {str(before)[:300]} came out as {b.type}: {str(after)[:300]}")
    if want.schema.metadata and {k: v for k, v in want.schema.metadata.items()} != {k: v for k, v in (got.schema.metadata or {}).items() if k in want.schema.metadata}:
        raise Difference(f"metadata {want.schema.metadata} came out as {got.schema.metadata}")


def compare_text(want, path):
    flat = [f.name for f in want.schema if pa.types.is_integer(f.type) or pa.types.is_string(f.type)]
    if path.suffix == ".csv":
        rows = list(csv.DictReader(path.open(newline="", encoding="utf-8")))
        show = lambda v: "" if v is None else str(v)
    else:
        rows = [json.loads(line) for line in path.open(encoding="utf-8")]
        show = lambda v: v
    for name in flat:
        values = want[name].to_pylist()
        got = [row.get(name) for row in rows]
        if [show(v) for v in values] != got:
            raise Difference(f"{name}: {values[:5]} came out in {path.suffix} as {got[:5]}")


def pyarrow_fails(table, out):
    """Tells whether pyarrow cannot write a table as Parquet and read that either."""
    own = out.with_suffix(".own")
    try:
        pq.write_table(table, own)
        pq.read_table(own)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return True
    return False


def convert(source, want, out, *flags):
    """Converts a file and returns why it was refused, or nothing."""
    summary = out.with_suffix(".json")
    result = subprocess.run([binary, "-in", source, "-rules", scratch / "rules", "-out", out, "-url-column", "url", "-prefix", "r_",
                             "-summary-json", summary, "-batch-rows", "16", *flags], capture_output=True, text=True)
    error = result.stderr.strip().splitlines()[0] if result.returncode else ""
    if result.returncode:
        if result.returncode != 1 or "column " not in error or any(word in error for word in ("runtime error", "internal error", "type mismatch")):
            raise Difference(f"exit {result.returncode}: {error}")
        if out.exists():
            raise Difference("a refused conversion left its output")
        return error
    notes = json.loads(summary.read_text()).get("notes", [])
    if out.suffix in (".csv", ".jsonl"):
        compare_text(want, out)
        return ""
    try:
        got = read(out)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if not pyarrow_fails(want, out):
            raise
        again = out.with_suffix(".again.arrow")
        subprocess.run([binary, "-in", out, "-rules", scratch / "rules", "-out", again, "-url-column", "url", "-prefix", "again_",
                        "-summary-json", summary], check=True, capture_output=True)
        got, notes = read(again), notes + json.loads(summary.read_text()).get("notes", [])
        unreadable.append(out)
    got.validate(full=True)
    keep = None
    if "-emit" in flags:
        keep = ["/x" in (u.decode() if isinstance(u, bytes) else u) if u else False for u in want["url"].to_pylist()]
    compare(want, got, notes, keep)
    return ""


def reason(error):
    """The refusal without names and numbers."""
    return " ".join("…" if '"' in word or any(c.isdigit() for c in word) else word for word in error.split())[:110]


def one(n):
    try:
        return conversions(n)
    except Exception as e:
        raise RuntimeError(f"table {n}") from e


def conversions(n):
    rng = random.Random(n)
    folder = scratch / f"table{n}"
    folder.mkdir(exist_ok=True)
    schema, batches = random_table(rng)
    print(f"table {n}", file=sys.stderr) if VERBOSE else None
    table = pa.Table.from_batches(batches, schema)
    table.validate(full=True)
    # A file cannot have a dictionary that another batch replaces.
    arrow = folder / ("in.arrows" if "dictionary" in str(schema) else rng.choice(["in.arrow", "in.arrows"]))
    parquet = folder / "in.parquet"
    options = pa.ipc.IpcWriteOptions(compression=rng.choice([None, "lz4", "zstd"]), emit_dictionary_deltas=False)
    new = pa.ipc.new_file if arrow.suffix == ".arrow" else pa.ipc.new_stream
    with new(arrow, schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    read_back = write_parquet(rng, table, parquet)
    outcomes = []
    for source, want in ((arrow, table), (parquet, read_back)):
        if want is None:
            continue
        for out, flags in (("out.parquet", ()), ("out.arrow", ()), ("out.arrows", ("-compression", "zstd")), ("out2.parquet", ("-compression", "zstd")),
                           ("denied.parquet", ("-emit", "denied")), ("denied.arrow", ("-emit", "denied")), ("out.csv", ()), ("out.jsonl", ())):
            name = f"table {n}: {source.name} to {out} {' '.join(flags)}"
            path = folder / out
            path.unlink(missing_ok=True)
            try:
                error = convert(source, want, path, *flags)
                outcomes.append((name, "", error))
            except Exception as e:
                outcomes.append((name, f"{type(e).__name__}: {e}", ""))
    if not KEEP and not any(failed for _, failed, _ in outcomes):
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    return outcomes


(scratch / "rules").mkdir(exist_ok=True)
for host in "ab":
    (scratch / "rules" / f"{host}.test").write_text("User-agent: *\nDisallow: /x\n")
VERBOSE = KEEP = len(sys.argv) > 5
refused, failed, done, unreadable = collections.Counter(), 0, 0, []
with ThreadPoolExecutor(2) as pool:
    for outcomes in pool.map(one, range(first, first + count)):
        for name, failure, error in outcomes:
            done += 1
            if failure:
                failed += 1
                if failed <= 40:
                    print(f"FAIL: {name}: {failure}"[:900])
            elif error:
                refused[reason(error)] += 1
print(f"{count} random tables, {done} conversions: {failed} differ, {sum(refused.values())} refused, {len(unreadable)} compared without pyarrow's reader")
for why, times in refused.most_common():
    print(f"{times:6} {why}")
sys.exit(failed > 0)
