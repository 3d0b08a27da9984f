import { setTimeout as sleep } from 'node:timers/promises';
import type { PlaneClient } from '../../test/support/control-plane/index.ts';
import { crowd } from './crowd.ts';
import {
  type BenchKind,
  bodyOf,
  collectionOf,
  emptyNamespace,
  failingKind,
  hotKind,
} from './definitions.ts';
import { type Tenant, tenantKinds } from './tenants.ts';

/** What shares the process with the good definitions. */
export interface Neighbours {
  readonly kinds: readonly BenchKind[];
  /** Creates their resources. */
  create(client: PlaneClient): Promise<void>;
  /** What they do while the good ones are measured; ends with the signal, with what is to be noted of it. */
  disturb(place: DisturbedPlace, signal: AbortSignal): Promise<string | undefined>;
  /** Resources that make passes until they are found to be unstable. @default 0 */
  readonly hotResources?: number;
}

export interface DisturbedPlace {
  readonly client: PlaneClient;
  /** Of the runtime's HTTP server. */
  readonly url: string;
}

export interface NeighbourSizes {
  readonly failing: number;
  readonly hot: number;
}

const connections = 300;
/** So often a hostile author edits his resource: long before its pass before has come to its limits. */
const editEveryMs = 200;

/** The names that `--beside` knows. */
export const neighbourNames = ['none', 'bad', ...Object.keys(tenantKinds()), 'connections'];

/** @throws Error for a name that is none of {@link neighbourNames}. */
export function neighboursOf(name: string, sizes: NeighbourSizes): Neighbours {
  if (name === 'none') return { kinds: [], create: async () => {}, disturb: async () => undefined };
  if (name === 'bad') return badNeighbours(sizes);
  if (name === 'connections')
    return { kinds: [], create: async () => {}, disturb: askWithoutPause };
  const tenant = tenantKinds()[name];
  if (tenant === undefined)
    throw new Error(`--beside ${name} is none of: ${neighbourNames.join(', ')}`);
  return hostileNeighbour(tenant);
}

function badNeighbours({ failing, hot }: NeighbourSizes): Neighbours {
  const kinds = [failingKind(), hotKind()] as const;
  const names = (count: number) => Array.from({ length: count }, (_, index) => `bad-${index}`);
  return {
    kinds,
    hotResources: hot,
    async create(client) {
      await inParallel(names(failing), (name) =>
        client.create(collectionOf(kinds[0], emptyNamespace), bodyOf(kinds[0], name, '0')),
      );
      await inParallel(names(hot), (name) =>
        client.create(collectionOf(kinds[1]), bodyOf(kinds[1], name, '0')),
      );
    },
    disturb: async () => undefined,
  };
}

/** One author of one resource whose every pass runs into its limits, and who edits it again and again. */
function hostileNeighbour({ kind, spec }: Tenant): Neighbours {
  const { group } = kind;
  const head = `"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"hostile"}`;
  return {
    kinds: [kind],
    async create(client) {
      await client.create(collectionOf(kind), `{${head},"spec":${spec}}`);
    },
    async disturb({ client }, signal) {
      for (let edit = 1; !signal.aborted; edit++) {
        await client.patch(`${collectionOf(kind)}/hostile`, { spec: { edit } });
        await sleep(editEveryMs, undefined, { signal }).catch(() => undefined);
      }
      return undefined;
    },
  };
}

async function askWithoutPause({ url }: DisturbedPlace, signal: AbortSignal): Promise<string> {
  const perSecond = await crowd(`${url}/metrics`, connections, signal);
  return `${connections} connections were given ${perSecond.toFixed(0)} answers a second.`;
}

/** Runs `act` for all, sixteen at a time. */
export async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<unknown>) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
