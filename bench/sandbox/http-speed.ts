import { createHttpClient } from './http-client.ts';
import { deployment, deploymentsPath } from './objects.ts';
import type { Row } from './row.ts';
import { withServed } from './served.ts';

const objects = 3_000;
const connections = 8;
const targetPerSecond = 1_500;

/** Server-side applies of Deployments over HTTP, by one client with eight connections. */
export function measureHttp(): Promise<readonly Row[]> {
  return withServed(async (url) => {
    const client = createHttpClient(url, connections);
    const applyAll = async (prefix: string, count: number, replicas: number) => {
      const start = performance.now();
      let next = 0;
      const work = async () => {
        for (let index = next++; index < count; index = next++) {
          const name = `${prefix}-${index}`;
          const path = `${deploymentsPath}/${name}?fieldManager=bench&force=true`;
          await client.send('PATCH', path, deployment(name, replicas));
        }
      };
      await Promise.all(Array.from({ length: connections }, work));
      return count / ((performance.now() - start) / 1000);
    };
    await applyAll('warm', 1_000, 1);
    const rows: Row[] = [];
    for (const [what, replicas] of [
      ['new', 1],
      ['changed', 2],
    ] as const) {
      const value = Math.round(await applyAll('web', objects, replicas));
      rows.push({
        what: `apply over HTTP, Deployment, ${what}`,
        value,
        unit: '/s',
        target: `>= ${targetPerSecond}`,
        isMet: value >= targetPerSecond,
      });
    }
    client.close();
    return rows;
  });
}
