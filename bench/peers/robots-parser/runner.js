// The runner of robots-parser. It wants the URL of each robots.txt, and answers
// for URLs of that origin only.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const robotsParser = require('robots-parser');

const [rules, urlsFile, agent, out, passesText] = process.argv.slice(2);
const passes = Number(passesText);

// cpuMs is the processor time used since the start, a value of process.cpuUsage.
function cpuMs(start) {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e3;
}

// load returns a pair of parsed file and URL for each line, and the
// milliseconds of parsing.
function load() {
  const parsed = new Map();
  let parseMs = 0;
  const rows = fs.readFileSync(urlsFile, 'ascii').trimEnd().split('\n').map((line) => {
    const [file, url] = line.split('\t');
    const origin = URL.canParse(url) ? new URL(url).origin : '';
    const key = `${file} ${origin}`;
    if (!parsed.has(key)) {
      const body = fs.readFileSync(path.join(rules, file), 'utf8');
      const start = process.cpuUsage();
      try {
        parsed.set(key, robotsParser(`${origin}/robots.txt`, body));
      } catch {
        parsed.set(key, null);
      }
      parseMs += cpuMs(start);
    }
    return { robots: parsed.get(key), url };
  });
  return { rows, parseMs };
}

function evaluate(rows, verdicts) {
  for (let pass = 0; pass < passes; pass++) {
    for (let i = 0; i < rows.length; i++) {
      let allowed;
      try {
        allowed = rows[i].robots.isAllowed(rows[i].url, agent);
      } catch {
        // stays undefined, as where the library has no answer
      }
      verdicts[i] = allowed === undefined ? 2 : Number(allowed);
    }
  }
}

const { rows, parseMs } = load();
const verdicts = Buffer.alloc(rows.length);
evaluate(rows, verdicts); // to warm up
const cpu = process.cpuUsage();
const wall = performance.now();
evaluate(rows, verdicts);
const usedMs = cpuMs(cpu);
const wallMs = performance.now() - wall;
fs.writeFileSync(out, verdicts);
const installed = path.join(path.dirname(require.resolve('robots-parser')), 'package.json');
console.log(JSON.stringify({
  name: 'robots-parser',
  version: JSON.parse(fs.readFileSync(installed)).version,
  urls: rows.length,
  passes,
  cpu_ns_per_url: (usedMs * 1e6) / rows.length / passes,
  wall_ns_per_url: (wallMs * 1e6) / rows.length / passes,
  parse_ms: parseMs,
}));
