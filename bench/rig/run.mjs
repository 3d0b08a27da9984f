// node run.mjs --peers raw-node,go --n 1000 --reps 3 --workloads W1,W2,W2b,W3,W4,W5 --limit 600
// node run.mjs --count --peers go --count-n 100 --n 1000
// Appends each outcome to results/<label>.json as it comes; prints a table at the end.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { adapters } from './adapters/index.mjs';
import { PeerFailure, countingRun, timedRun } from './workloads.mjs';
import { incomplete, table } from './report.mjs';

const here = path.dirname(new URL(import.meta.url).pathname);
const { values } = parseArgs({ options: {
  peers: { type: 'string', default: 'raw-node,raw-go,go' }, n: { type: 'string', default: '1000' },
  reps: { type: 'string', default: '1' }, workloads: { type: 'string', default: 'W1,W2,W2b,W3,W4,W5' },
  limit: { type: 'string', default: '600' }, count: { type: 'boolean', default: false },
  'count-n': { type: 'string', default: '100' }, idle: { type: 'string', default: '60' }, calm: { type: 'string', default: '4' },
  label: { type: 'string', default: new Date().toISOString().slice(0, 10) },
} });

const peers = values.peers.split(',').map(name => {
  const adapter = adapters[name];
  if (!adapter) throw new Error(`unknown peer ${name}; known: ${Object.keys(adapters).join(', ')}`);
  if (adapter.env && !process.env[adapter.env]) throw new Error(`peer ${name} needs ${adapter.env}`);
  return adapter;
});
const n = Number(values.n), limitMs = Number(values.limit) * 1000;
const file = path.join(process.env.BENCH_RESULTS ?? path.join(here, 'results'), `${values.label}.json`);
const results = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : [];

const wanted = values.workloads.split(',');
const own = [];
let failure;

for (let rep = 0; rep < Number(values.reps) && !failure; rep++) {
  const order = peers.map((_, i) => peers[(i + rep) % peers.length]);   // interleaved, starting one later each time
  for (const adapter of order) {
    const at = new Date().toISOString();
    process.stderr.write(`${at} rep ${rep + 1} ${adapter.name}\n`);
    let outcome;
    try {
      outcome = values.count
        ? { kind: 'count', ...await countingRun(adapter, { n: Number(values['count-n']), idleN: n, limitMs, idleMs: Number(values.idle) * 1000 }) }
        : { kind: 'time', ...await timedRun(adapter, { n, limitMs, calmMs: Number(values.calm) * 1000, workloads: wanted }) };
    } catch (error) {
      failure = error;
      outcome = { kind: 'failed', error: String(error.stack) };
    }
    own.push({ at, peer: adapter.name, n, rep, ...outcome });
    fs.writeFileSync(file, `${JSON.stringify([...results, ...own], null, 1)}\n`);
    if (failure) break;
  }
}
console.log(table([...results, ...own]));
for (const { peer, kind, ...workloads } of own.filter(result => result.kind === 'time')) {
  for (const [name, { loopP99 } = {}] of Object.entries(workloads)) {
    if (/^W/.test(name) && loopP99 > 20) console.log(`\nAbove the target of 20 ms: the event loop of ${peer} in ${name}, p99 ${loopP99} ms`);
  }
}
const gaps = own.flatMap(result => incomplete(result, adapters[result.peer].limit ? wanted.filter(name => name === 'W1') : wanted));
for (const gap of gaps) console.error(gap);
if (failure) console.error(failure instanceof PeerFailure ? failure.message : failure);
process.exit(failure || gaps.length > 0 ? 1 : 0);
