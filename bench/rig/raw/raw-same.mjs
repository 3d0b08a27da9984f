// The limit at equal bytes: what Homeostat writes for a PodSet, replayed in the same order for each. The writes were recorded from
// Homeostat for one PodSet; name and UID are replaced. One list for the UIDs, then W connections; no watch, no cache, no decision.
// node raw-same.mjs KUBECONFIG WRITES N [WIDTH] [PREFIX]
import fs from 'node:fs';
import { Client, parallel, readKubeconfig } from '../client.mjs';
import { names, podsetsPath } from '../podset.mjs';

const [kubeconfig, file, count = '1000', width = '16', prefix = 'ps'] = process.argv.slice(2);
const recorded = JSON.parse(fs.readFileSync(file, 'utf8'));
const client = new Client({ ...readKubeconfig(kubeconfig), connections: Number(width), userAgent: 'bench-raw-same' });
const { items } = await client.must('GET', podsetsPath());
const uids = new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]));
await parallel(names(prefix, Number(count)), Number(width), async name => {
  const here = text => text.replaceAll(recorded.name, name).replaceAll(recorded.uid, uids.get(name));
  for (const { method, path, body, contentType } of recorded.writes) await client.must(method, here(path), here(body), contentType);
});
process.exit(0);
