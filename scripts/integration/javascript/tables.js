// Compares Arrow and Parquet between robotsbatch, apache-arrow and hyparquet.
//
// usage: node tables.js ROBOTSBATCH SAMPLE SCRATCH

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as arrow from 'apache-arrow'
import * as zstd from 'fzstd'
import * as lz4 from 'lz4js'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

const [program, sample, scratch] = process.argv.slice(2)
const frontier = join(sample, 'frontier.arrow')

// apache-arrow has no codecs of its own, programs bring theirs. Buffers must lie
// as numbers of 64 bits do, which copies see to.
arrow.compressionRegistry.set(arrow.CompressionType.ZSTD, { decode: (data) => zstd.decompress(data).slice() })
arrow.compressionRegistry.set(arrow.CompressionType.LZ4_FRAME, { decode: (data) => lz4.decompress(data).slice() })

// run runs the job, and returns its summary's counts of verdicts.
function run(source, out, ...flags) {
  const summary = join(scratch, 'summary.json')
  execFileSync(program, ['-in', source, '-rules', join(sample, 'rules'), '-agent', 'CCBot',
    '-out', out, '-summary-json', summary, '-quiet', ...flags], { stdio: 'inherit' })
  const { allowed, denied, unknown } = JSON.parse(readFileSync(summary)).agents[0]
  return [allowed, denied, unknown]
}

function counts(values) {
  const count = (is) => values.filter(is).length
  return [count((v) => v === true), count((v) => v === false), count((v) => v === null || v === undefined)]
}

function same(what, got, want) {
  if (String(got) !== String(want)) throw new Error(`${what}: ${got}, want ${want}`)
  console.log(`ok ${what}: ${String(got).slice(0, 60)}`)
}

let want
for (const codec of ['none', 'lz4', 'zstd']) {
  for (const ending of ['.arrow', '.arrows']) {
    const out = join(scratch, codec + ending)
    want = run(frontier, out, '-compression', codec, '-batch-rows', '300', '-explain')
    const allowed = arrow.tableFromIPC(readFileSync(out)).getChild('allowed')
    same(`apache-arrow reads ${basename(out)}`, counts([...allowed]), want)
  }
}
for (const codec of ['none', 'snappy', 'zstd']) {
  const out = join(scratch, codec + '.parquet')
  want = run(frontier, out, '-compression', codec, '-batch-rows', '300', '-explain')
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(out), compressors })
  same(`hyparquet reads ${basename(out)}`, counts(rows.map((row) => row.allowed)), want)
}

// The columns of -with, which facts.py had written, with times as jsonl has them.
const facts = readFileSync(join(scratch, 'facts.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line))
const columns = ['crawl_delay', 'sitemaps', 'robots_status', 'robots_fetched_at', 'age']
const time = (v) => new Date(v).toISOString().replace('T', ' ').replace('.000Z', 'Z')
const plain = (v, column) => {
  if (v === null || v === undefined) return null
  if (column === 'sitemaps') return [...v]
  return column === 'robots_fetched_at' ? time(v) : Number(v)
}
const factsOf = (row) => JSON.stringify(columns.map((column) => plain(row(column), column)))
const wantFacts = facts.map((fact) => JSON.stringify(columns.map((column) => fact[column])))
const table = arrow.tableFromIPC(readFileSync(join(scratch, 'facts.arrow')))
same('apache-arrow reads -with', wantFacts.map((_, i) => factsOf((column) => table.getChild(column).get(i))).join(), wantFacts.join())
const file = await asyncBufferFromFile(join(scratch, 'facts.parquet'))
same('hyparquet reads -with', (await parquetReadObjects({ file, compressors })).map((row) => factsOf((column) => row[column])).join(), wantFacts.join())

// What apache-arrow writes, compressed and not, with a dictionary and without.
const urls = [...arrow.tableFromIPC(readFileSync(frontier)).getChild('url')]
const number = arrow.vectorFromArray(urls.map((_, i) => i), new arrow.Int32())
for (const [name, type] of [['utf8', new arrow.Utf8()], ['dictionary', new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32())]]) {
  const table = new arrow.Table({ url: arrow.vectorFromArray(urls, type), number })
  for (const [format, ending] of [['file', '.arrow'], ['stream', '.arrows']]) {
    const path = join(scratch, `javascript-${name}${ending}`)
    writeFileSync(path, arrow.tableToIPC(table, format))
    same(`robotsbatch reads ${basename(path)}`, run(path, join(scratch, 'out.arrow')), want)
  }
}
console.log('left out apache-arrow writing lz4 and zstd: it has no encoders')
console.log('left out hyparquet writing: it reads only')
