import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { anySignal } from '#util/any-signal.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneClient } from '../control-plane/index.ts';
import { patienceMs } from '../patience.ts';

/** What counts of each object, by `<plural>/<name>`: the same for two namespaces in the same state. */
export type ClusterState = Readonly<Record<string, unknown>>;

/** UIDs by `<plural>/<name>`. */
export type Uids = Readonly<Record<string, string>>;

export interface StateView {
  readonly state: ClusterState;
  readonly uids: Uids;
  readonly objects: ReadonlyMap<string, KubeObject>;
}

export interface StateOptions {
  readonly client: PlaneClient;
  readonly namespace: string;
  /** Where two runs have definitions of other names: this one's. */
  readonly definition?: string;
  /** Paths of collections without a namespace: `/apis/apps/v1`, `deployments`. */
  readonly collections: readonly (readonly [root: string, plural: string])[];
  /** Kinds whose status counts, and their generation: those that only the runtime and the test write. */
  readonly reported: readonly string[];
  /** Do generations count? They tell how often a user has changed something. @default true */
  readonly countsGenerations?: boolean;
  /** How long is waited for it, in ms. @default 60_000 */
  readonly limitMs?: number;
}

/** Follows all collections until the view satisfies the check, and returns it. @throws Error of `explain` after the limit. */
export async function untilState(
  options: StateOptions,
  isMet: (view: StateView) => boolean,
  explain: (view: StateView | undefined) => void,
): Promise<StateView> {
  const { client, namespace, collections } = options;
  const states = new Map<string, readonly KubeObject[]>();
  const stop = new AbortController();
  const signal = anySignal([stop.signal, AbortSignal.timeout(options.limitMs ?? patienceMs)]);
  let last: StateView | undefined;
  let met: StateView | undefined;
  const follow = async ([root, plural]: readonly [string, string]) =>
    client.follow({
      path: `${root}/namespaces/${namespace}/${plural}`,
      signal,
      onState(items) {
        states.set(plural, items);
        if (states.size < collections.length || met !== undefined) return met !== undefined;
        last = view(states, options);
        if (isMet(last)) met = last;
        if (met !== undefined) stop.abort();
        return met !== undefined;
      },
    });
  const ends = await Promise.allSettled(collections.map(follow));
  if (met !== undefined) return met;
  explain(last);
  throw new Error('The state was not as expected in time', {
    cause: ends.find(({ status }) => status === 'rejected'),
  });
}

/** Resolves when the cluster is the expected one; after the limit it shows the difference. */
export function untilEqual(options: StateOptions, expected: ClusterState): Promise<StateView> {
  return untilState(
    options,
    ({ state }) => isDeepStrictEqual(state, expected),
    (last) => assert.deepEqual(last?.state, expected),
  );
}

function view(
  states: ReadonlyMap<string, readonly KubeObject[]>,
  options: StateOptions,
): StateView {
  const { namespace, definition } = options;
  const entries = [...states]
    .flatMap(([plural, items]) =>
      items.map((item) => [`${plural}/${item.metadata.name}`, item] as const),
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const uids = Object.fromEntries(entries.map(([key, { metadata }]) => [key, metadata.uid ?? '']));
  return {
    uids,
    objects: new Map(entries),
    // For a thousand objects this is work: most looks at the cluster ask for less.
    get state() {
      const shown = entries.map(([key, object]) => [key, essence(object, options)] as const);
      const text = JSON.stringify(Object.fromEntries(shown)).replaceAll(namespace, '<namespace>');
      const keys = new Map(Object.entries(uids).map(([key, uid]) => [uid, key]));
      const named = text.replaceAll(uidPattern, (uid) => `<uid of ${keys.get(uid) ?? uid}>`);
      return JSON.parse(
        definition === undefined ? named : named.replaceAll(definition, '<definition>'),
      );
    },
  };
}

const uidPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function essence(object: KubeObject, { reported, countsGenerations = true }: StateOptions) {
  const { kind, metadata, status, ...rest } = object;
  const { name, labels, annotations = {}, finalizers, ownerReferences, generation } = metadata;
  // The hash of the applied fields has the owner's UID in it, in a form that we cannot name.
  const ours = Object.entries(annotations)
    .filter(([key]) => !key.startsWith('deployment.') && !key.startsWith('webhook.example.com/'))
    .map(([key, value]) => [key, key === 'homeostat.dev/applied' ? 'hash' : value] as const);
  const isReported = reported.includes(kind);
  return {
    kind,
    name,
    labels: sorted(Object.entries(labels ?? {})),
    annotations: sorted(ours),
    finalizers,
    ownerReferences,
    isDeleting: metadata.deletionTimestamp !== undefined,
    rest: { ...rest, metadata: undefined },
    ...(isReported ? { status: comparable(status, countsGenerations) } : {}),
    ...(isReported && countsGenerations ? { generation } : {}),
  };
}

function sorted<T>(entries: readonly (readonly [string, T])[]) {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What two definitions, or two moments, cannot have in common. */
const incomparable: ReadonlySet<string> = new Set(['lastTransitionTime', 'definitionRevision']);

/** With sorted keys: the server keeps the order in which fields came. */
function comparable(value: unknown, countsGenerations: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item, countsGenerations));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !incomparable.has(key))
    .filter(([key]) => countsGenerations || key !== 'observedGeneration')
    .map(([key, inner]) => [key, comparable(inner, countsGenerations)] as const);
  return sorted(entries);
}
