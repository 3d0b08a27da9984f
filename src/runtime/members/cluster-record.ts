import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { conditionsOf, type KubeObject } from '../../util/kube-object.ts';
import type { RolloutRecord } from '../definition-view.ts';
import type { PersistedState } from '../definitions/definition-conditions.ts';
import { kindsIn, liveStatus, rolloutIn } from '../definitions/record.ts';

/** A parsed `Cluster` object. */
export interface ClusterRecord {
  readonly object: KubeObject;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Creation time, in ms since the epoch. */
  readonly createdMs: number;
  readonly secret: SecretKey;
  /** @default the current context */
  readonly context?: string;
  /** From a user. */
  readonly expectedUid?: string;
  readonly isPaused: boolean;
  /** From the first contact. */
  readonly knownUid?: string;
  readonly version?: string;
  /** Status of the condition `Connected`. */
  readonly connected?: string;
  /** Number of objects that resources of the hub have there. */
  readonly placed?: number;
  readonly definitions: readonly RecordedDefinition[];
}

export interface SecretKey {
  /** @default the namespace of the runtime */
  readonly namespace?: string;
  readonly name: string;
  readonly key?: string;
}

/** What a definition has in a member. The specs of its revisions are in the status of the definition. */
export interface RecordedDefinition {
  readonly name: string;
  /** As in the status. */
  readonly entry: JsonObject;
  readonly state: PersistedState;
  readonly rollout?: RolloutRecord;
}

/** Parses a `Cluster` object. Pure. */
export function clusterRecordOf(object: KubeObject): ClusterRecord {
  const { name, labels = {}, creationTimestamp = '' } = object.metadata;
  const spec = mapOf(object.spec);
  const kubeconfig = mapOf(spec.kubeconfig);
  const secretRef = mapOf(kubeconfig.secretRef);
  const status = liveStatus(object);
  const connected = conditionsOf(object).find(({ type }) => type === 'Connected')?.status;
  return {
    ...{ object, name, labels },
    createdMs: Date.parse(creationTimestamp),
    secret: {
      name: textOf(secretRef.name) ?? '',
      ...optional('namespace', secretRef.namespace),
      ...optional('key', secretRef.key),
    },
    isPaused: spec.paused === true,
    ...optional('context', kubeconfig.context),
    ...optional('expectedUid', spec.uid),
    ...optional('knownUid', status.uid),
    ...optional('version', status.version),
    ...optional('connected', connected),
    ...(typeof status.placed === 'number' && { placed: status.placed }),
    definitions: (Array.isArray(status.definitions) ? status.definitions : [])
      .filter(isJsonObject)
      .flatMap(definitionOf),
  };
}

function definitionOf(entry: JsonObject): readonly RecordedDefinition[] {
  const { name, revision, older } = entry;
  if (typeof name !== 'string') return [];
  const all: readonly Json[] = [revision ?? null, ...(Array.isArray(older) ? older : [])];
  const revisions = all.filter((each) => typeof each === 'string');
  const rollout = rolloutIn(entry);
  return [
    {
      name,
      entry,
      state: {
        revisions: revisions.map((each) => ({ revision: each, spec: {} })),
        kinds: kindsIn(entry),
      },
      ...(rollout && { rollout }),
    },
  ];
}

function mapOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function optional<Key extends string>(
  key: Key,
  value: Json | undefined,
): Partial<Record<Key, string>> {
  const text = textOf(value);
  return text === undefined ? {} : ({ [key]: text } as Record<Key, string>);
}
