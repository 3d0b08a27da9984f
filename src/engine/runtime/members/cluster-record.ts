import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { listOf, liveStatus } from '../recorded-state.ts';

/** A parsed `Cluster` object. */
export interface ClusterRecord {
  readonly object: KubeObject;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Creation time, in ms since the epoch. */
  readonly createdMs: number;
  readonly secret: SecretKey;
  /** Undefined: the current context. */
  readonly context: string | undefined;
  /** From a user. */
  readonly expectedUid: string | undefined;
  readonly isPaused: boolean;
  /** From the first contact. */
  readonly knownUid: string | undefined;
  readonly version: string | undefined;
  /** Number of objects that resources of the hub have there. Undefined: none so far. */
  readonly placed: number | undefined;
  readonly definitions: readonly RecordedDefinition[];
}

interface SecretKey {
  /** Undefined: the namespace of the runtime. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly key: string | undefined;
}

/** What a status records of a definition in a member. The specs of its revisions are in the status of the definition. */
export type RecordedDefinition = JsonObject & { readonly name: string };

/** Parses a `Cluster` object. Pure. */
export function clusterRecordOf(object: KubeObject): ClusterRecord {
  const { name, labels = {}, creationTimestamp = '' } = object.metadata;
  const spec = mapOf(object.spec);
  const kubeconfig = mapOf(spec.kubeconfig);
  const secretRef = mapOf(kubeconfig.secretRef);
  const status = liveStatus(object);
  return {
    object,
    name,
    labels,
    createdMs: Date.parse(creationTimestamp),
    secret: {
      namespace: textOf(secretRef.namespace),
      name: textOf(secretRef.name) ?? '',
      key: textOf(secretRef.key),
    },
    context: textOf(kubeconfig.context),
    expectedUid: textOf(spec.uid),
    isPaused: spec.paused === true,
    knownUid: textOf(status.uid),
    version: textOf(status.version),
    placed: typeof status.placed === 'number' ? status.placed : undefined,
    definitions: listOf(status.definitions).filter(isRecordedDefinition),
  };
}

function isRecordedDefinition(entry: Json): entry is RecordedDefinition {
  return isJsonObject(entry) && typeof entry.name === 'string';
}

function mapOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
