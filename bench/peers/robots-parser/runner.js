// The runner of robots-parser. It wants the URL of each robots.txt, and answers
// for URLs of that origin only.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const robotsParser = require('robots-parser');

const [rules, urlsFile, agent, out, passesText] = process.argv.slice(2);
const passes = Number(passesText);
const report = { parse_ms: 0 };

// cpuMs is the processor time used since the start, a value of process.cpuUsage.
function cpuMs(start) {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e3;
}

// load returns a pair of parsed file and URL for each line, and what was parsed
// by origin.
function load() {
  const parsed = new Map();
  const origins = new Map();
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
      report.parse_ms += cpuMs(start);
    }
    origins.set(origin, parsed.get(key));
    return { robots: parsed.get(key), url };
  });
  return { rows, origins };
}

// measure evaluates all rows, first to warm up and then against the clock.
function measure(rows, prefix, allowed) {
  const verdicts = Buffer.alloc(rows.length);
  for (let round = 0; round < 2; round++) { // the first to warm up
    const cpu = process.cpuUsage();
    const wall = performance.now();
    for (let pass = 0; pass < passes; pass++) {
      for (let i = 0; i < rows.length; i++) {
        try {
          verdicts[i] = allowed(rows[i]) ?? 2;
        } catch {
          verdicts[i] = 2;
        }
      }
    }
    report[`${prefix}cpu_ns_per_url`] = (cpuMs(cpu) * 1e6) / rows.length / passes;
    report[`${prefix}wall_ns_per_url`] = ((performance.now() - wall) * 1e6) / rows.length / passes;
  }
  return verdicts;
}

const { rows, origins } = load();
const alone = measure(rows, '', ({ robots, url }) => robots.isAllowed(url, agent));
const whole = measure(rows, 'job_', ({ url }) => origins.get(new URL(url).origin).isAllowed(url, agent));
fs.writeFileSync(out, Buffer.concat([alone, whole]));
const installed = path.join(path.dirname(require.resolve('robots-parser')), 'package.json');
report.version = JSON.parse(fs.readFileSync(installed)).version;
console.log(JSON.stringify(report));
