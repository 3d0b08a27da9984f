// `node latency-client.ts COUNT URL...`: sends reviews of one object of 8 KB to each webhook in turn, over one connection each, and prints the
// latencies as JSON, in ms.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleOf } from './stage.ts';

const [count = '0', ...urls] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
const object = sampleOf('v1alpha1', 'one', 185);
const body = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: { uid: 'bench', desiredAPIVersion: 'bench.example.com/v1', objects: [object] },
});
/** Between two requests. */
const pauseMs = 4;
/** Requests that are not counted: code and connections are new. */
const warmUp = 500;

const times: number[][] = urls.map(() => []);
for (let index = -warmUp; index < Number(count); index++)
  for (const [peer, url] of urls.entries()) {
    await sleep(pauseMs);
    const startMs = performance.now();
    const text = await send(url);
    if (!text.includes('"Success"')) throw new Error(text.slice(0, 1_000));
    if (index >= 0) times[peer]?.push(performance.now() - startMs);
  }
agent.destroy();
process.stdout.write(JSON.stringify({ bytes: JSON.stringify(object).length, times }));

async function send(url: string): Promise<string> {
  const sent = request(url, { method: 'POST', agent });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) text += chunk;
  return text;
}
