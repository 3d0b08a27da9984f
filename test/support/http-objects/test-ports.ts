import type { HttpObjectPorts } from '#http-objects/controller/ports.ts';
import type { HttpTransport } from '#kube/roles.ts';
import { decodeBase64 } from '#util/base64.ts';
import { FakeClock } from '../fake-clock.ts';
import { MemoryCluster } from './memory-cluster.ts';
import { codeParser } from './test-objects.ts';

const parser = codeParser();

export interface TestPorts extends HttpObjectPorts {
  readonly clock: FakeClock;
}

/** Ports over a cluster in memory. Values are read from its Secrets. */
export function testPorts(
  transport: HttpTransport,
  cluster = new MemoryCluster(),
  more: Partial<HttpObjectPorts> = {},
): TestPorts {
  return {
    ...{ cluster, transport, parser, clock: new FakeClock() },
    values: {
      async read(namespace, { name, key, kind }) {
        const object = cluster.get(kind, namespace, name);
        const data = (object?.data ?? {}) as Readonly<Record<string, string>>;
        const text = data[key];
        if (object === undefined || text === undefined)
          return {
            reason: 'ValueMissing',
            message: `Expected key "${key}" of ${kind} "${name}", found none`,
          };
        const value = kind === 'Secret' ? (decodeBase64(text) ?? '') : text;
        return {
          value,
          version: `${object.metadata.uid}/${object.metadata.resourceVersion}/${key}`,
        };
      },
      secret: async (namespace, name) => cluster.get('Secret', namespace, name),
      isNamespaceTerminating: async () => false,
    },
    tokens: { issue: async () => 'jwt-1' },
    random: { fraction: () => 0.5, text: () => '' },
    ...more,
  } as TestPorts;
}
