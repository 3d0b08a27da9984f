import type { EnqueueCause, ObjectChange, ReconcileEnd } from '#reconcile';
import { changedPaths } from '#util/changed-paths.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import type { ReconcileTrigger, ResourceRef, TriggerKind } from '#web';

/** Something that enqueued a resource. */
interface Cause {
  readonly cause: EnqueueCause;
  readonly change: ObjectChange | undefined;
}

interface Noted {
  readonly kind: TriggerKind;
  readonly text: string;
  readonly object?: ResourceRef;
}

/** The state of one resource between its reconciles. */
interface Tracked {
  noted: Noted[];
  /** Causes that are not kept: only counted. */
  more: number;
  since: number | undefined;
  /** Revision and end of the last reconcile. Undefined: there was none. */
  last: { readonly revision: string; readonly end: ReconcileEnd } | undefined;
}

/** More causes of one reconcile are counted. */
const maxCauses = 3;
/** More changed fields of one edit are counted. */
const maxFields = 2;

/** The most important kind of several causes is that of the reconcile. */
const order: readonly TriggerKind[] = [
  'reload',
  'edit',
  'event',
  'timer',
  'retry',
  'start',
  'resync',
];

const texts: Readonly<Record<Exclude<EnqueueCause, 'change'>, Noted>> = {
  start: { kind: 'start', text: 'the first list of the runtime' },
  timer: { kind: 'timer', text: 'its schedule' },
  timeout: { kind: 'timer', text: 'the end of "onDelete.timeout"' },
  right: { kind: 'event', text: 'a missing right was granted' },
  history: { kind: 'event', text: 'a version of what it reads was recorded' },
  watch: { kind: 'event', text: 'objects that it reads can be watched' },
  'input-changed': { kind: 'retry', text: 'what it reads changed during its last reconcile' },
  'stable-again': { kind: 'retry', text: 'its reconciles no longer cause each other' },
  'object-exists': { kind: 'retry', text: 'an object that a request failed without exists' },
  'name-free': { kind: 'retry', text: 'an object with the name of a child is deleted' },
  'child-changed': { kind: 'retry', text: 'a child changed during its last reconcile' },
  'cluster-changed': { kind: 'retry', text: 'a member cluster changed during its last reconcile' },
  'children-removed': { kind: 'retry', text: 'its children are removed' },
  'finalizer-unneeded': { kind: 'retry', text: 'nothing needs its finalizer any more' },
  resync: { kind: 'resync', text: 'a resync of all resources' },
};

/** Finds what enqueued the reconciles of the resources of a kind, also across revisions of its definition. */
export class TriggerTracker {
  readonly #own: Pick<ResourceRef, 'apiVersion' | 'kind'>;
  readonly #tracked = new Map<string, Tracked>();

  /** `own`: the kind of the resources. */
  constructor(own: Pick<ResourceRef, 'apiVersion' | 'kind'>) {
    this.#own = own;
  }

  note(key: string, { cause, change }: Cause, nowMs: number): void {
    const tracked = this.#of(key);
    // A new revision lists all resources, and reaches some of them much later.
    if (cause !== 'start') tracked.since ??= nowMs;
    const noted = cause === 'change' ? this.#changeOf(key, change) : texts[cause];
    if (tracked.noted.some(({ text }) => text === noted.text)) return;
    if (tracked.noted.length < maxCauses) tracked.noted.push(noted);
    else tracked.more += 1;
  }

  /** The trigger of the reconcile that begins, with the time of its first cause. */
  take(key: string, revision: string): ReconcileTrigger & { readonly since: number | undefined } {
    const tracked = this.#of(key);
    const { noted, more, since, last } = tracked;
    tracked.noted = [];
    tracked.more = 0;
    tracked.since = undefined;
    const causes =
      last !== undefined && last.revision !== revision
        ? [reloadOf(revision), ...noted.filter(({ kind }) => kind !== 'start')]
        : noted.length > 0
          ? noted
          : [withoutCause(last?.end)];
    const shown = causes.map(({ text }) => text).join(', ');
    return {
      kind: order.find((kind) => causes.some((each) => each.kind === kind)) ?? 'event',
      text: more > 0 ? `${shown} and ${more} more` : shown,
      objects: causes.flatMap(({ object }) => object ?? []),
      since,
    };
  }

  ended(key: string, end: ReconcileEnd, revision: string): void {
    this.#of(key).last = { revision, end };
  }

  /** Drops the state of a resource. */
  forget(key: string): void {
    this.#tracked.delete(key);
  }

  #of(key: string): Tracked {
    let tracked = this.#tracked.get(key);
    if (tracked === undefined) {
      tracked = { noted: [], more: 0, since: undefined, last: undefined };
      this.#tracked.set(key, tracked);
    }
    return tracked;
  }

  #changeOf(key: string, change: ObjectChange | undefined): Noted {
    const object = (change?.current ?? change?.old)?.object;
    if (change === undefined || object === undefined) return { kind: 'event', text: 'a change' };
    const { apiVersion, kind, metadata } = object;
    const { namespace, name } = metadata;
    const place = `${namespace === undefined ? '' : `${namespace}/`}${name}`;
    const isOwn =
      apiVersion === this.#own.apiVersion &&
      kind === this.#own.kind &&
      key === keyOf(namespace, name);
    const what = whatChanged(change.old?.object, change.current?.object);
    const isEdit = isOwn && what !== statusChanged;
    return {
      kind: isEdit ? 'edit' : 'event',
      text: `${kind} ${place} ${what}`,
      object: { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) },
    };
  }
}

function reloadOf(revision: string): Noted {
  return { kind: 'reload', text: `its definition changed to revision ${revision}` };
}

/** No event: a retry or a timer of the last reconcile. */
function withoutCause(end: ReconcileEnd | undefined): Noted {
  if (end === undefined) return { kind: 'start', text: 'the first reconcile of this process' };
  switch (end.kind) {
    case 'done':
      return { kind: 'timer', text: 'its state depends on time' };
    case 'error':
      return { kind: 'retry', text: `a retry after ${end.code}` };
    default:
      return { kind: 'retry', text: `a retry: ${end.reason}` };
  }
}

const statusChanged = 'changed its status';

function whatChanged(before: KubeObject | undefined, after: KubeObject | undefined): string {
  if (before === undefined) return 'was created';
  if (after === undefined) return 'was deleted';
  if (before.metadata.uid !== after.metadata.uid) return 'was replaced';
  if (before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp)
    return 'is being deleted';
  const { metadata: _, status: oldStatus, ...old } = before;
  const { metadata: __, status: newStatus, ...current } = after;
  const fields = changedPaths(old, current);
  if (fields.length > 0) return editText(fields, before, after);
  const { labels, annotations } = before.metadata;
  const marks = changedPaths(
    { labels, annotations },
    { labels: after.metadata.labels, annotations: after.metadata.annotations },
  );
  if (marks.length > 0) return `was edited: metadata.${shortList(marks)}`;
  return changedPaths(oldStatus, newStatus).length > 0 ? statusChanged : 'changed';
}

/** Fields by path. Texts are left out: they may be secret, and long. */
function editText(fields: readonly string[], before: KubeObject, after: KubeObject): string {
  const shown = fields.map((path) => {
    const [old, current] = [valueAt(before, path), valueAt(after, path)];
    return before.kind !== 'Secret' && isShort(old) && isShort(current)
      ? `${path} ${old} \u2192 ${current}`
      : path;
  });
  return `was edited: ${shortList(shown)}`;
}

function isShort(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
}

function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, maxFields).join(', ');
  return names.length > maxFields ? `${shown} and ${names.length - maxFields} more` : shown;
}
