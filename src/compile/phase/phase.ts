import { invariant } from '../../util/invariant.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Uses } from '../analysis/uses.ts';
import type { Scope } from '../language/index.ts';
import type {
  Element,
  Phase,
  PhaseInput,
  ReadRequest,
  Rendered,
  RenderFailure,
  Seen,
} from '../operator-plan.ts';
import type { ReportInput, ReportPhase } from '../reporting-plan.ts';
import { missingValue } from '../template/missing-value.ts';
import { render } from '../template/render.ts';
import { RenderError } from '../template/render-error.ts';
import { then } from '../template/then.ts';
import { checkManifest } from './manifest.ts';
import { isObjectName } from './object-name.ts';
import type { ChildUnit, PlanParts, Unit } from './plan-parts.ts';
import { startReportPhase } from './report-phase.ts';

type MaybePromise<T> = T | Promise<T>;

const theOneElement: readonly Element[] = Object.freeze([
  Object.freeze({ item: undefined, index: 0 }),
]);

/** Begins a phase; see {@link Phase}. */
export function startPhase(parts: PlanParts, input: PhaseInput): Phase {
  return new PassPhase(parts, input);
}

/** Begins a look at the world after the applies; see {@link ReportPhase}. */
export function startReport(parts: PlanParts, input: ReportInput): ReportPhase {
  invariant(parts.report !== undefined, 'The plan reports nothing besides the status');
  const phase = new PassPhase(parts, { phase: 'reporting', ...input });
  return startReportPhase(parts.report, (unit) => phase.value(unit));
}

/** What is known in a phase, and what has been evaluated of it. */
class PassPhase implements Phase {
  readonly #parts: PlanParts;
  readonly #isWaiting: boolean;
  readonly #scope: Scope;
  readonly #children: Known;
  readonly #reads: Known;
  readonly #observed: Known;
  readonly #varValues: Record<string, unknown> = {};
  readonly #vars = new Map<string, MaybePromise<Rendered<unknown>>>();

  constructor(parts: PlanParts, input: PhaseInput) {
    this.#parts = parts;
    this.#isWaiting = input.phase === 'wanting';
    this.#children = createKnown('children', parts.children.keys(), input.children);
    this.#reads = createKnown('reads', parts.reads.keys(), input.reads);
    this.#observed = createKnown('observed', parts.observed, input.observed);
    const { resource, clusterName, now, randomText, previous, budget } = input;
    const { name, revision } = parts.definition;
    this.#scope = {
      root: {
        ...resource,
        children: this.#children.values,
        reads: this.#reads.values,
        observed: this.#observed.values,
        vars: this.#varValues,
      },
      self: resource,
      definition: { name, revision },
      cluster: clusterName,
      ...(previous === undefined ? {} : { previous }),
      now,
      randomText,
      ...(budget === undefined ? {} : { budget }),
    };
  }

  setChild(id: string, seen: Seen): void {
    setKnown(this.#children, id, seen);
  }

  setRead(id: string, seen: Seen): void {
    setKnown(this.#reads, id, seen);
  }

  setObserved(id: string, seen: Seen): void {
    setKnown(this.#observed, id, seen);
    for (const name of this.#vars.keys()) {
      if (partOf(this.#parts.vars, name).uses.observed.includes(id)) this.#vars.delete(name);
    }
  }

  async readRequest(id: string): Promise<Rendered<ReadRequest>> {
    const { uses, request } = partOf(this.#parts.reads, id);
    return this.#evaluate(uses, () => request(this.#scope));
  }

  async wanted(childId: string): Promise<Rendered<boolean>> {
    const { when } = this.#child(childId);
    if (when === undefined) return { kind: 'value', value: true };
    const rendered = await this.#render(when, this.#scope);
    if (rendered.kind !== 'missing') return rendered as Rendered<boolean>;
    const { slots, place } = when.template;
    return failed(new RenderError('missing-value', missingValue(slots[0]), place));
  }

  async elements(childId: string): Promise<Rendered<readonly Element[]>> {
    const { forEach } = this.#child(childId);
    if (forEach === undefined) return { kind: 'value', value: theOneElement };
    return this.#evaluate(forEach.uses, () => forEach.list.elements(this.#scope));
  }

  async manifest(childId: string, element: Element): Promise<Rendered<KubeObject>> {
    const { manifest } = this.#child(childId);
    const { template, quotes } = manifest;
    const scope = this.#scopeOf(childId, element);
    return this.#evaluate(manifest.uses, () =>
      then(render(template, { scope, quotes }), (value) => checkManifest(value, manifest)),
    );
  }

  async name(childId: string, element: Element): Promise<Rendered<string>> {
    const { name } = this.#child(childId);
    if (name === undefined) return { kind: 'missing' };
    const rendered = await this.#render(name, this.#scopeOf(childId, element));
    if (rendered.kind !== 'value') return rendered;
    const { value } = rendered;
    const isName = typeof value === 'string' && isObjectName(value);
    return isName ? { kind: 'value', value } : { kind: 'missing' };
  }

  async ready(childId: string, child: KubeObject, element: Element): Promise<Rendered<boolean>> {
    const { ready } = this.#child(childId);
    invariant(ready !== undefined, `Child "${childId}" has no "ready"`);
    const rendered = await this.#render(ready, { ...this.#scopeOf(childId, element), child });
    if (rendered.kind === 'missing') return { kind: 'value', value: false };
    return rendered as Rendered<boolean>;
  }

  async mayGo(childId: string, child: KubeObject): Promise<Rendered<boolean>> {
    const { deleteWhen } = this.#child(childId);
    invariant(deleteWhen !== undefined, `Child "${childId}" has no "deleteWhen"`);
    const rendered = await this.#render(deleteWhen, { ...this.#scope, child });
    if (rendered.kind === 'missing') return { kind: 'value', value: false };
    return rendered as Rendered<boolean>;
  }

  async status(): ReturnType<Phase['status']> {
    const fields: Record<string, unknown> = {};
    const failures: RenderFailure[] = [];
    for (const [name, unit] of this.#parts.status) {
      const rendered = await this.#render(unit, this.#scope);
      if (rendered.kind === 'value') fields[name] = rendered.value;
      else if (rendered.kind === 'failed') failures.push(rendered.failure);
    }
    return { fields, failures };
  }

  /** Evaluates what belongs to no child. */
  async value(unit: Unit): Promise<Rendered<unknown>> {
    return this.#render(unit, this.#scope);
  }

  #child(id: string): ChildUnit {
    return partOf(this.#parts.children, id);
  }

  #scopeOf(childId: string, { item, index }: Element): Scope {
    return this.#child(childId).forEach === undefined
      ? this.#scope
      : { ...this.#scope, item, index };
  }

  #render({ template, quotes, uses }: Unit, scope: Scope): MaybePromise<Rendered<unknown>> {
    return this.#evaluate(uses, () => render(template, { scope, quotes }));
  }

  /** Waits, or makes the vars known and evaluates. */
  #evaluate<T>(uses: Uses, evaluate: () => MaybePromise<T | undefined>): MaybePromise<Rendered<T>> {
    const on = this.#isWaiting ? this.#waitsFor(uses) : [];
    if (on.length > 0) return { kind: 'waiting', on };
    return then(this.#prepareVars(uses.vars), (failure) => failure ?? settle(evaluate));
  }

  #waitsFor({ children, reads, observed }: Uses): readonly string[] {
    const on: string[] = [];
    for (const id of children) {
      const waiting = this.#children.waiting.get(id);
      if (waiting !== undefined) on.push(waiting);
    }
    for (const id of reads) {
      const waiting = this.#reads.waiting.get(id);
      if (waiting !== undefined) on.push(waiting);
    }
    for (const id of observed) {
      const waiting = this.#observed.waiting.get(id);
      if (waiting !== undefined) on.push(waiting);
    }
    return on;
  }

  /** Evaluates those that have not been yet, in order; gives the first failure. */
  #prepareVars(
    names: readonly string[],
    from = 0,
  ): MaybePromise<Extract<Rendered<never>, { kind: 'failed' }> | undefined> {
    for (let index = from; index < names.length; index++) {
      const rendered = this.#var(names[index] ?? '');
      if (rendered instanceof Promise) {
        return rendered.then((settled) =>
          settled.kind === 'failed' ? settled : this.#prepareVars(names, index + 1),
        );
      }
      if (rendered.kind === 'failed') return rendered;
    }
    return undefined;
  }

  /** The vars that it uses have been evaluated before it, and nothing of what it uses waits. */
  #var(name: string): MaybePromise<Rendered<unknown>> {
    const known = this.#vars.get(name);
    if (known !== undefined) return known;
    const { template, quotes } = partOf(this.#parts.vars, name);
    const rendered = then(
      settle(() => render(template, { scope: this.#scope, quotes })),
      (settled) => {
        if (settled.kind === 'value') this.#varValues[name] = settled.value;
        return settled;
      },
    );
    this.#vars.set(name, rendered);
    return rendered;
  }
}

/** Children or reads: what expressions see, and what is waited for. */
interface Known {
  readonly root: 'children' | 'observed' | 'reads';
  readonly values: Record<string, unknown>;
  readonly waiting: Map<string, string>;
}

function createKnown(
  root: Known['root'],
  ids: Iterable<string>,
  start: ReadonlyMap<string, Seen> | undefined,
): Known {
  const known: Known = { root, values: {}, waiting: new Map() };
  for (const id of ids) {
    const seen = start?.get(id);
    if (seen === undefined) known.waiting.set(id, `${root}.${id}`);
    else setKnown(known, id, seen);
  }
  return known;
}

function setKnown({ values, waiting }: Known, id: string, seen: Seen): void {
  delete values[id];
  waiting.delete(id);
  if (seen.state === 'present') values[id] = seen.value;
  else if (seen.state === 'waiting') waiting.set(id, seen.on);
}

function partOf<T>(parts: ReadonlyMap<string, T>, id: string): T {
  const part = parts.get(id);
  invariant(part !== undefined, `The plan has no "${id}"`);
  return part;
}

function settle<T>(evaluate: () => MaybePromise<T | undefined>): MaybePromise<Rendered<T>> {
  try {
    const value = evaluate();
    return value instanceof Promise ? value.then(rendered<T>, failed) : rendered(value);
  } catch (error) {
    return failed(error);
  }
}

function rendered<T>(value: T | undefined): Rendered<T> {
  return value === undefined ? { kind: 'missing' } : { kind: 'value', value };
}

/** Anything but a RenderError is our own bug. */
function failed(error: unknown): Extract<Rendered<never>, { kind: 'failed' }> {
  if (!(error instanceof RenderError)) throw error;
  return { kind: 'failed', failure: error.failure };
}
