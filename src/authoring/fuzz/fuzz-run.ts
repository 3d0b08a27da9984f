import { type FuzzRule, testHub } from '#definition';
import { KubeError } from '#kube';
import { contentOf, fieldChanges } from '#plan';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { conditionsOf } from '#util/kube-object.ts';
import { specOf } from '#util/readiness/status-reader.ts';
import { type Disturbance, disturbanceOf } from './disturbance.ts';
import { type AppliedChild, type FuzzCluster, titleOf } from './fuzz-cluster.ts';
import { type FuzzTarget, referenceOf, resourceOf, statusFieldSchema } from './fuzz-target.ts';
import type { Action, Content, History } from './history.ts';

/** After an outage the operators connect to a member within this time, in minutes. */
export const reconnectMinutes = 2;

/** What a run has found. */
export interface FuzzFailure {
  /** The rule that does not hold. */
  readonly rule: FuzzRule;
  readonly message: string;
  /** Number of actions that were carried out before. */
  readonly after: number;
  /** What the last step of a test must expect to show it. Undefined: the rule says it, or every test checks it. */
  readonly expected?: Json;
  /** What the actions `deleteChild` and `changeChild` did, by index of the action. */
  readonly disturbances: ReadonlyMap<number, Disturbance>;
}

/**
 * The result of one run. `rejected`: the server rejected the first content with this message, so nothing was tried. `isLeft`: the resource
 * still exists, because the rule of its deletion is skipped.
 */
export type RunResult =
  | { readonly kind: 'rejected'; readonly message: string }
  | { readonly kind: 'passed'; readonly isLeft: boolean }
  | ({ readonly kind: 'failed' } & FuzzFailure);

/** Carries out a history on a cluster, and checks after each action what must hold for every definition. */
export class FuzzRun {
  readonly #cluster: FuzzCluster;
  readonly #target: FuzzTarget;
  readonly #name: string;
  /** Pods failed, or the server did: the resource may be stalled for a reason. */
  #hasTrouble = false;
  #uid = '';
  #isReady = false;
  #after = 0;
  readonly #disturbances = new Map<number, Disturbance>();
  /** Titles of deleted children that may have finished, and are not created again then. */
  readonly #finished = new Set<string>();

  constructor(cluster: FuzzCluster, target: FuzzTarget, name: string) {
    this.#cluster = cluster;
    this.#target = target;
    this.#name = name;
  }

  async run({ content, actions }: History): Promise<RunResult> {
    const logged = this.#cluster.logged.length;
    const rejection = await this.#apply(content);
    if (rejection !== undefined) return { kind: 'rejected', message: rejection };
    const failure =
      (await this.#settled()) ??
      (await this.#runActions(content, actions)) ??
      (await this.#delete()) ??
      this.#logged(logged);
    return failure === undefined
      ? { kind: 'passed', isLeft: (await this.#resource()) !== undefined }
      : { kind: 'failed', ...failure };
  }

  async #runActions(
    content: Content,
    actions: readonly Action[],
  ): Promise<FuzzFailure | undefined> {
    const before = this.#rendered();
    for (const action of actions) {
      await this.#act(action);
      this.#after += 1;
      const failure = await this.#settled();
      if (failure !== undefined) return failure;
    }
    this.#cluster.failNext(0, 0);
    if (this.#hasTrouble) await this.#act({ kind: 'outcome', is: 'ready' });
    // The server may reject the way back: an empty list takes a required field away.
    const isBack = actions.length === 0 || (await this.#apply(content)) === undefined;
    return (
      (await this.#settled()) ??
      (isBack && !this.#hasTrouble ? this.#reversed(before) : undefined) ??
      (await this.#restarted())
    );
  }

  async #act(action: Action): Promise<void> {
    const { simulation } = this.#cluster;
    switch (action.kind) {
      case 'edit':
        await this.#apply(action.content);
        return;
      case 'deleteChild':
      case 'changeChild':
        await this.#disturb(action);
        return;
      case 'outcome':
        this.#hasTrouble ||= action.is !== 'ready';
        this.#cluster.setPodOutcome(action.is);
        return;
      case 'fail':
        this.#cluster.failNext(action.with, action.times);
        return;
      case 'restart':
        await this.#cluster.restart();
        return;
      case 'advance':
        await simulation.advance(action.minutes * 60_000);
        return;
      case 'outage':
        simulation.members.setReachable(action.cluster, false);
        await simulation.advance(action.minutes * 60_000);
        simulation.members.setReachable(action.cluster, true);
        await simulation.advance(reconnectMinutes * 60_000);
    }
  }

  /** Returns why the server has rejected the content; undefined: it has accepted it. */
  async #apply(content: Content): Promise<string | undefined> {
    try {
      await this.#cluster.objects.apply(resourceOf(this.#target, this.#name, content));
      return undefined;
    } catch (error) {
      if (error instanceof KubeError) return error.message;
      throw error;
    }
  }

  /** What the server rejects (an immutable field) is no disturbance. */
  async #disturb(action: Extract<Action, { readonly child: number }>): Promise<void> {
    const change = disturbanceOf(action, this.#children);
    if (change === undefined) return;
    this.#disturbances.set(this.#after, change);
    const { path, cluster } = change.child;
    if (change.merge === undefined && runsOnce(this.#target, change.child))
      this.#finished.add(titleOf(change.child));
    try {
      await this.#cluster.apiOf(cluster).request(
        change.merge === undefined
          ? { method: 'DELETE', path }
          : {
              method: 'PATCH',
              path,
              query: { fieldManager: 'kubectl' },
              contentType: 'application/merge-patch+json',
              body: change.merge,
            },
      );
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
    }
  }

  get #children(): readonly AppliedChild[] {
    return this.#cluster.childrenOf(this.#uid);
  }

  async #settled(): Promise<FuzzFailure | undefined> {
    const writes = await this.#cluster.settle();
    if (this.#cluster.hasFlapped)
      return this.#failure('flapping', 'The status changes back and forth');
    if (writes.length > 0)
      return this.#failure(
        'idle',
        `The operator does not become idle: ${writes.slice(0, 3).join(', ')}`,
      );
    const resource = await this.#resource();
    this.#uid = uidOf(resource);
    this.#isReady = conditionsOf(resource).some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    );
    const stalled = conditionsOf(resource).find(
      ({ type, status }) => type === 'Stalled' && status === 'True',
    );
    if (stalled !== undefined && !this.#hasTrouble)
      return this.#failure(
        'stalled',
        `Stalled is True, reason ${String(stalled.reason)}: ${String(stalled.message)}`,
      );
    return this.#missingNumber(resource);
  }

  /** A count that is missing while the child exists from which it is read. */
  #missingNumber(resource: JsonObject | undefined): FuzzFailure | undefined {
    const { kind, status } = this.#target.definition;
    if (kind.source !== 'crd' || conditionsOf(resource).length === 0) return undefined;
    const existing = new Set(this.#children.map(({ id }) => id));
    const found = isJsonObject(resource?.status) ? resource.status : {};
    for (const [field, template] of Object.entries(status)) {
      const read = [...JSON.stringify(template).matchAll(/\bchildren\.(\w+)/g)].map(
        ([, id]) => id ?? '',
      );
      const isExpected = read.length > 0 && read.every((id) => existing.has(id));
      if (
        isExpected &&
        found[field] === undefined &&
        isNumber(statusFieldSchema(kind.schema, field))
      )
        return this.#failure(
          'missing-number',
          `The status has no "${field}", though ${read.map((id) => `child "${id}"`).join(' and ')} exists`,
          {
            status: {
              of: referenceOf(this.#target, this.#name),
              is: { [field]: { $any: true } },
            },
          },
        );
    }
    return undefined;
  }

  #reversed(before: readonly RenderedChild[] | undefined): FuzzFailure | undefined {
    const after = this.#rendered();
    const repeated = before?.filter(({ path }) => !this.#finished.has(path));
    const difference = repeated && after && firstDifference(repeated, after);
    if (difference === undefined) return undefined;
    const { text, expected } = difference;
    return this.#failure(
      'reverse-edit',
      `After edits back to the first content, ${text}`,
      expected,
    );
  }

  /** The children as last applied. Undefined where they depend on more than the content, or are not as desired yet. */
  #rendered(): readonly RenderedChild[] | undefined {
    if (this.#target.hasMemory || !this.#isReady) return undefined;
    return this.#children.map((child) => ({
      path: titleOf(child),
      cluster: child.cluster,
      content: contentOf(child.manifest) as JsonObject,
    }));
  }

  async #restarted(): Promise<FuzzFailure | undefined> {
    const writes = await this.#cluster.writesAfterRestart(this.#target);
    if (writes.length === 0) return undefined;
    return this.#failure(
      'second-reconcile',
      `A second reconcile writes again: ${writes.slice(0, 3).join(', ')}`,
    );
  }

  async #delete(): Promise<FuzzFailure | undefined> {
    const children = this.#children;
    const { objects } = this.#cluster;
    // It may have deleted itself (`deleteAfter`).
    const exists = (await this.#resource()) !== undefined;
    if (exists) await objects.delete(referenceOf(this.#target, this.#name));
    await this.#cluster.settle();
    const resource = await this.#resource();
    if (resource !== undefined) {
      const { reason, message } = conditionsOf(resource).find(({ type }) => type === 'Ready') ?? {};
      return this.#failure(
        'deletion',
        `The resource is not deleted: ${String(reason)}, ${String(message)}`,
      );
    }
    const kept = new Set(
      this.#target.definition.children
        .filter(({ deletionPolicy }) => deletionPolicy === 'Orphan')
        .map(({ id }) => id),
    );
    const left: string[] = [];
    for (const child of children) {
      const { id, path, cluster } = child;
      const api = this.#cluster.apiOf(cluster);
      if ((await api.get(path)) === undefined) continue;
      if (!kept.has(id)) left.push(titleOf(child));
      else await api.request({ method: 'DELETE', path });
    }
    await this.#cluster.settle();
    return left.length === 0
      ? undefined
      : this.#failure('nothing-left', `After the deletion there is still ${left.join(', ')}`);
  }

  #logged(from: number): FuzzFailure | undefined {
    const line = this.#cluster.logged[from];
    return line === undefined
      ? undefined
      : this.#failure('error-log', `The operator logged an error: ${line}`);
  }

  #resource(): Promise<JsonObject | undefined> {
    return this.#cluster.objects.findByReference(referenceOf(this.#target, this.#name));
  }

  /** Undefined: the rule is skipped. */
  #failure(rule: FuzzRule, message: string, expected?: Json): FuzzFailure | undefined {
    if (this.#target.skip.has(rule)) return undefined;
    return {
      rule,
      message,
      after: this.#after,
      disturbances: this.#disturbances,
      ...(expected !== undefined && { expected }),
    };
  }
}

/** Whether the child is not created again after it has finished: it says so, or it is a Job with a time to live. */
function runsOnce({ definition }: FuzzTarget, { id, manifest }: AppliedChild): boolean {
  const runs = definition.children.find((child) => child.id === id)?.runs;
  if (runs !== undefined) return runs === 'Once';
  return manifest.kind === 'Job' && specOf(manifest).ttlSecondsAfterFinished !== undefined;
}

function uidOf(resource: JsonObject | undefined): string {
  const metadata = resource?.metadata;
  return isJsonObject(metadata) ? String(metadata.uid) : '';
}

function isNumber(schema: JsonObject | undefined): boolean {
  return schema?.type === 'integer' || schema?.type === 'number';
}

interface RenderedChild {
  /** With its cluster. */
  readonly path: string;
  readonly cluster: string;
  readonly content: JsonObject;
}

interface Difference {
  readonly text: string;
  /** The expectation that does not hold. */
  readonly expected: Json;
}

function firstDifference(
  before: readonly RenderedChild[],
  after: readonly RenderedChild[],
): Difference | undefined {
  const old = new Map(before.map((child) => [child.path, child]));
  for (const child of after) {
    const { path } = child;
    const previous = old.get(path);
    if (previous === undefined)
      return { text: `${path} is new`, expected: expectedChild(child, 'absent') };
    const [change] = fieldChanges(previous.content, child.content);
    if (change !== undefined)
      return {
        text: `"${change.path}" of ${path} differs`,
        expected: expectedChild(previous, 'object', change.path),
      };
    old.delete(path);
  }
  const [missing] = old.values();
  return (
    missing && { text: `${missing.path} is missing`, expected: expectedChild(missing, 'object') }
  );
}

/** The expectation of a child, with the field that differs. A field of a list item is expected with its whole list. */
function expectedChild(
  { cluster, content }: RenderedChild,
  form: 'object' | 'absent',
  path?: string,
): Json {
  const { apiVersion, kind, metadata = {} } = content;
  const { name, namespace } = metadata as { readonly name: string; readonly namespace?: string };
  const [field = ''] = path?.split('[') ?? [];
  const identity = {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
  };
  const expected =
    field === '' ? identity : withField(identity as JsonObject, content, field.split('.'));
  return { ...(cluster !== testHub && { cluster }), [form]: expected } as unknown as Json;
}

/** The object with the field of another one, or the matcher of its absence. */
function withField(
  object: JsonObject,
  source: JsonObject | undefined,
  [step = '', ...below]: readonly string[],
): JsonObject {
  const value = source?.[step];
  const inner = object[step];
  const next =
    below.length === 0
      ? (value ?? { $absent: true })
      : withField(isJsonObject(inner) ? inner : {}, isJsonObject(value) ? value : undefined, below);
  return { ...object, [step]: next };
}
