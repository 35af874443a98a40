// Checks that columns that pass through are the same to apache-arrow and hyparquet
// before and after, on the tables that passed.py has written.
//
// usage: node passed.js SCRATCH

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import * as arrow from 'apache-arrow'
import * as zstd from 'fzstd'
import * as lz4 from 'lz4js'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet'
import { readBloomFilter } from 'hyparquet/src/bloom.js'
import { readColumnIndex, readOffsetIndex } from 'hyparquet/src/indexes.js'
import { compressors } from 'hyparquet-compressors'

const scratch = process.argv[2]

// apache-arrow has no codecs of its own, see tables.js.
arrow.compressionRegistry.set(arrow.CompressionType.ZSTD, { decode: (data) => zstd.decompress(data).slice() })
arrow.compressionRegistry.set(arrow.CompressionType.LZ4_FRAME, { decode: (data) => lz4.decompress(data).slice() })

function same(what, before, after) {
  if (!isDeepStrictEqual(before, after)) throw new Error(`${what} differs`)
  console.log(`ok ${what}`)
}

const ours = (name) => name === 'allowed' || name === 'robotsbatch.columns'

// reader reads Thrift at an offset of a file.
const reader = (data, offset) => ({ view: new DataView(data.buffer, data.byteOffset, data.byteLength), offset: Number(offset) })

// parquetShown is what hyparquet shows of a table, without our column and what moves.
async function parquetShown(path) {
  const file = await asyncBufferFromFile(path)
  const meta = await parquetMetadataAsync(file)
  const data = readFileSync(path)
  const leaves = new Map()
  const walk = (node) => node.children.length ? node.children.forEach(walk) : leaves.set(node.path.join('.'), node.element)
  walk(parquetSchema(meta))
  const chunk = ({ meta_data, ...c }) => {
    const element = leaves.get(meta_data.path_in_schema.join('.'))
    const { data_page_offset, dictionary_page_offset, index_page_offset, bloom_filter_offset, ...stays } = meta_data
    const first = dictionary_page_offset ?? data_page_offset
    const index = c.offset_index_offset && readOffsetIndex(reader(data, c.offset_index_offset))
    return {
      stays,
      dataAfterDictionary: data_page_offset - first,
      columnIndex: c.column_index_offset && readColumnIndex(reader(data, c.column_index_offset), element),
      offsetIndex: index && {
        ...index,
        page_locations: index.page_locations.map((l) => ({ ...l, page: data.subarray(Number(l.offset), Number(l.offset) + l.compressed_page_size).toString('hex'), offset: 0 })),
      },
      bloom: bloom_filter_offset && readBloomFilter(reader(data, bloom_filter_offset)),
    }
  }
  return {
    schema: meta.schema.slice(1).filter(({ name }) => !ours(name)),
    metadata: (meta.key_value_metadata ?? []).filter(({ key }) => !ours(key) && key !== 'ARROW:schema'),
    createdBy: [meta.created_by, meta.version, meta.num_rows],
    groups: meta.row_groups.map((g) => ({
      rows: g.num_rows,
      sorting: g.sorting_columns,
      chunks: g.columns.filter((c) => !ours(c.meta_data.path_in_schema[0])).map(chunk),
    })),
    rows: (await parquetReadObjects({ file, metadata: meta, compressors })).map(({ allowed, ...row }) => row),
  }
}

// arrowShown is what apache-arrow shows of a table, without our column. Values are
// compared as text: what it gives for nested ones are views of buffers.
function arrowShown(path) {
  const table = arrow.tableFromIPC(readFileSync(path))
  const fields = table.schema.fields.filter(({ name }) => !ours(name))
  const text = (value) => JSON.stringify(value, (_, v) => typeof v === 'bigint' ? `${v}n` : v)
  return {
    metadata: table.schema.metadata,
    fields: fields.map((f) => [f.name, String(f.type), f.nullable, f.metadata]),
    batches: table.batches.map((b) => b.numRows),
    rows: fields.map(({ name }) => [...table.getChild(name)].map(text)),
  }
}

let indexes = 0
let blooms = 0
for (const [before, after] of JSON.parse(readFileSync(join(scratch, 'passed.json')))) {
  const [source, out] = [join(scratch, before), join(scratch, after)]
  if (!before.endsWith('.parquet')) {
    if (before.includes('polars-lz4')) {
      console.log(`left out apache-arrow, ${before}: lz4js does not decode what polars writes`)
      continue
    }
    const [want, got] = [arrowShown(source), arrowShown(out)]
    for (const part in want) same(`apache-arrow, ${before}: ${part}`, want[part], got[part])
    continue
  }
  const [want, got] = [await parquetShown(source), await parquetShown(out)]
  for (const part in want) same(`hyparquet, ${before}: ${part}`, want[part], got[part])
  const chunks = want.groups.flatMap((g) => g.chunks)
  indexes += chunks.filter((c) => c.columnIndex && c.offsetIndex).length
  blooms += chunks.filter((c) => c.bloom).length
}
if (!indexes || !blooms) throw new Error(`${indexes} page indexes and ${blooms} bloom filters were compared`)
console.log(`ok ${indexes} page indexes and ${blooms} bloom filters`)
