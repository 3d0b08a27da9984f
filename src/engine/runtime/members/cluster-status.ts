import type { ServerNote } from '#kube';
import type { EventInput } from '#kube/roles.ts';
import { type ConditionContent, conditionFor } from '#util/condition.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { liveStatus } from '../recorded-state.ts';
import type { ConnectionState } from './connection-state.ts';

/** Everything that determines the status of a member. */
interface ClusterFacts {
  readonly connection: ConnectionState;
  readonly isPaused: boolean;
  /** Recorded at the first contact. */
  readonly uid: string | undefined;
  readonly version: string | undefined;
  /** Number of objects that resources of the hub have there. Undefined: none so far. */
  readonly placed: number | undefined;
  /** Entries of its definitions, sorted by name. */
  readonly definitions: readonly JsonObject[];
}

export type ClusterStatus = JsonObject & { readonly conditions: readonly JsonObject[] };

/** Builds the status. Pure. */
export function clusterStatusOf(
  facts: ClusterFacts,
  { object, now }: { readonly object: KubeObject; readonly now: string },
): ClusterStatus {
  const { generation } = object.metadata;
  const connected = connectedCondition(facts);
  const conditions = [readyCondition(facts, connected), connected].map((condition) => {
    const content = { ...condition, message: condition.message.toWellFormed() };
    return { ...conditionFor(content, { object, now }) };
  });
  const { uid, version, placed, definitions } = facts;
  return {
    conditions,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(uid !== undefined && { uid }),
    ...(version !== undefined && { version }),
    ...(definitions.length > 0 && { definitions }),
    ...(placed !== undefined && { placed }),
  };
}

/** Whether the object has this status. `ignoresCounts`: also if only numbers of resources differ. Pure. */
export function hasClusterStatus(
  object: KubeObject,
  desired: ClusterStatus,
  ignoresCounts = false,
): boolean {
  const live = liveStatus(object);
  return ignoresCounts
    ? deepEqual(withoutCounts(live), withoutCounts(desired))
    : deepEqual(live, desired);
}

function withoutCounts(status: JsonObject): JsonObject {
  const { definitions, placed: _, ...others } = status;
  if (!Array.isArray(definitions)) return others;
  return {
    ...others,
    definitions: definitions
      .filter(isJsonObject)
      .map(({ resources: __, ready: ___, ...rest }) => rest),
  };
}

const insecureWarning =
  'The certificate of the API server is not verified ("insecure-skip-tls-verify")';

const noteWarnings: Readonly<Record<ServerNote, string>> = {
  loopback: 'The kubeconfig names an address of the runtime itself (loopback)',
  hub: 'The kubeconfig names the address of the hub',
};

const throttledWarning =
  'The API server sends more than 4 MiB per second, and is not read faster: its changes are seen late';

function connectedCondition({ connection }: ClusterFacts): ConditionContent {
  const type = 'Connected';
  switch (connection.kind) {
    case 'connecting':
      return {
        type,
        status: 'Unknown',
        reason: 'Connecting',
        message: connection.failure?.message ?? '',
      };
    case 'connected': {
      const warnings = [
        ...(connection.isInsecure ? [insecureWarning] : []),
        ...connection.notes.map((note) => noteWarnings[note]),
      ];
      const { isThrottled = false } = connection;
      return {
        type,
        status: 'True',
        reason: isThrottled ? 'Throttled' : 'Connected',
        message: [...(isThrottled ? [throttledWarning] : []), ...warnings].join('; '),
      };
    }
    case 'failed': {
      const { reason, message } = connection.failure;
      return { type, status: 'False', reason, message };
    }
  }
}

function readyCondition(
  { connection, isPaused, definitions }: ClusterFacts,
  connected: ConditionContent,
): ConditionContent {
  const notReady = (reason: string, message: string) =>
    ({ type: 'Ready', status: 'False', reason, message }) as const;
  if (connected.status !== 'True') {
    const text = [connected.reason, connected.message].filter((part) => part !== '');
    return notReady('NotConnected', text.join(': '));
  }
  if (isPaused) return notReady('Paused', 'Nothing is written there ("spec.paused")');
  const named = (state: string) =>
    definitions.filter((entry) => entry.state === state).map(({ name }) => `"${String(name)}"`);
  const failing = named('Failing');
  if (failing.length > 0)
    return notReady('DefinitionsFailing', `Definitions that do not run: ${failing.join(', ')}`);
  const starting = named('Starting');
  if (starting.length > 0) return notReady('Starting', `Starting ${starting.join(', ')}`);
  if (connection.kind === 'connected' && connection.missingRight !== undefined)
    return notReady('Forbidden', connection.missingRight);
  return { type: 'Ready', status: 'True', reason: 'Running', message: '' };
}

/** The Event for a change of the connection. Undefined: it has not changed, or is being made. Pure. */
export function connectionEvent(
  { status }: KubeObject,
  desired: ClusterStatus,
): Pick<EventInput, 'type' | 'reason' | 'action' | 'note'> | undefined {
  const [before, after] = [status, desired].map((each) =>
    conditionsOf({ status: each }).find(({ type }) => type === 'Connected'),
  );
  if (after === undefined || after.status === 'Unknown') return undefined;
  if (before?.status === after.status && before?.reason === after.reason) return undefined;
  return {
    type: after.reason === 'Connected' ? 'Normal' : 'Warning',
    reason: String(after.reason),
    action: 'Connect',
    note: String(after.message || 'Connected'),
  };
}
