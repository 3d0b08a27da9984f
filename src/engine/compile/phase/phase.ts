import { type Gvk, gvkKey } from '#util/gvk.ts';
import { invariant } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Dependencies } from '../analysis/dependencies.ts';
import { type CompiledChild, variantsOf } from '../compiled-templates.ts';
import type { Scope } from '../language/index.ts';
import type {
  DeletionTime,
  Element,
  ExpressionInput,
  Phase,
  PhaseInput,
  ReadRequest,
  Rendered,
  RenderFailure,
} from '../operator-plan.ts';
import type { ReportInput, ReportPhase } from '../reporting-plan.ts';
import type { MissingHandler } from '../template/evaluate-slots.ts';
import { render } from '../template/render.ts';
import { MissingInput, RenderError } from '../template/render-error.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { missingValue } from '../template/values.ts';
import { deletionTime } from './deletion-time.ts';
import { type EvaluationPlan, type EvaluationUnit, requireEntry } from './evaluation-plan.ts';
import type { ForEach } from './for-each.ts';
import { checkManifest, chosenKind, clusterName, isObjectName } from './manifest.ts';
import type { FoundValue, Missing, MissingFacts } from './missing-values.ts';
import { TemplateReportPhase } from './report-phase.ts';

const singleElement: readonly Element[] = Object.freeze([
  Object.freeze({ item: undefined, index: 0 }),
]);

/** Starts a phase; see {@link Phase}. */
export function startPhase(parts: EvaluationPlan, input: PhaseInput): Phase {
  return new TemplatePhase(parts, input);
}

/** Starts the reporting phase; see {@link ReportPhase}. */
export function startReport(parts: EvaluationPlan, input: ReportInput): ReportPhase {
  const phase = new TemplatePhase(parts, { phase: 'reporting', ...input });
  return new TemplateReportPhase({
    parts,
    evaluate: (template, needs) => phase.value(template, needs),
    elements: (list) => phase.elementsOf(list, true),
    isUnknown: (template) => phase.isUnknown(template),
  });
}

/** Evaluates templates with the inputs of one phase, and caches vars. */
class TemplatePhase implements Phase {
  readonly #parts: EvaluationPlan;
  readonly #isWaiting: boolean;
  readonly #scope: Scope;
  /** For templates that read the present. */
  readonly #presentScope: Scope;
  readonly #children: InputSet;
  readonly #reads: InputSet;
  readonly #observed: InputSet;
  /** `history` is not known yet: expressions that read it wait. */
  readonly #lacksHistory: boolean;
  readonly #varValues: Record<string, unknown> = {};
  readonly #vars = new Map<string, Promise<Rendered<unknown>>>();
  /** The slots without a value, by var. */
  readonly #gaps = new Map<string, ReadonlySet<Slot>>();

  constructor(parts: EvaluationPlan, input: PhaseInput) {
    this.#parts = parts;
    this.#isWaiting = input.phase === 'wanting';
    this.#children = createInputSet('children', parts.children.keys(), input.children);
    this.#reads = createInputSet('reads', parts.reads.keys(), input.reads);
    this.#observed = createInputSet('observed', parts.observed, input.observed);
    const { resource, cluster, now, randomText, clusterOf, previous, budget, flips, history } =
      input;
    this.#lacksHistory = history === undefined;
    const { name, revision } = parts.definition;
    this.#scope = {
      root: {
        ...resource,
        children: this.#children.values,
        reads: this.#reads.values,
        observed: this.#observed.values,
        vars: this.#varValues,
        ...(parts.keepsHistory && { history }),
      },
      self: resource,
      definition: { name, revision },
      cluster,
      ...(previous === undefined ? {} : { previous }),
      now,
      randomText,
      ...(clusterOf === undefined ? {} : { clusterOf }),
      ...(budget === undefined ? {} : { budget }),
    };
    this.#presentScope = flips === undefined ? this.#scope : { ...this.#scope, flips };
  }

  setChild(id: string, seen: ExpressionInput): void {
    setInput(this.#children, id, seen);
  }

  setRead(id: string, seen: ExpressionInput): void {
    setInput(this.#reads, id, seen);
  }

  setObserved(id: string, seen: ExpressionInput): void {
    setInput(this.#observed, id, seen);
    for (const name of this.#vars.keys()) {
      const { uses } = this.#unitOf(requireEntry(this.#parts.vars, name));
      if (!uses.observed.includes(id)) continue;
      this.#vars.delete(name);
      this.#gaps.delete(name);
      delete this.#varValues[name];
    }
  }

  async readRequest(id: string): Promise<Rendered<ReadRequest>> {
    const { uses, optional, quotes, request } = requireEntry(this.#parts.reads, id);
    // An optional read without a name is absent.
    const missing = this.#missing({ quotes, omits: optional });
    return this.#evaluate(uses, () => request(this.#scopeFor(uses), missing));
  }

  async when(childId: string): Promise<Rendered<boolean>> {
    const { when } = this.#child(childId);
    if (when === undefined) return { kind: 'value', value: true };
    const rendered = await this.#render(when, undefined, needsValues);
    if (rendered.kind !== 'missing') return rendered as Rendered<boolean>;
    const { slots, place } = when;
    return this.#failed(new RenderError('missing-value', missingValue(slots[0]), place));
  }

  async elements(childId: string): Promise<Rendered<readonly Element[]>> {
    const list = this.#parts.lists.get(childId);
    return list === undefined ? { kind: 'value', value: singleElement } : this.elementsOf(list);
  }

  /** `waits`: values that other objects may get are waited for. */
  elementsOf(list: ForEach, waits = this.#isWaiting): Promise<Rendered<readonly Element[]>> {
    const { uses, quotes } = this.#unitOf(list.template);
    const missing = this.#missing({ quotes, waits });
    return this.#evaluate(uses, () => list.elements(this.#scopeFor(uses), missing), waits);
  }

  async cluster(childId: string, element: Element): Promise<Rendered<string>> {
    const { cluster } = this.#child(childId);
    invariant(cluster !== undefined, `Child "${childId}" has no "cluster"`);
    const rendered = await this.#render(cluster, this.#elementOf(childId, element), needsValues);
    const { slots, place } = cluster;
    if (rendered.kind === 'missing')
      return this.#failed(new RenderError('missing-value', missingValue(slots[0]), place));
    if (rendered.kind !== 'value') return rendered;
    const { quotes } = this.#unitOf(cluster);
    return this.#settle(async () => clusterName(rendered.value, place, quotes));
  }

  async kind(childId: string): Promise<Rendered<Gvk>> {
    const child = this.#child(childId);
    const { kind } = child;
    invariant(kind !== undefined, `Child "${childId}" has no computed kind`);
    const rendered = await this.#render(kind, undefined, needsValues);
    if (rendered.kind === 'missing')
      return this.#failed(
        new RenderError('missing-value', missingValue(kind.slots[0]), kind.place),
      );
    if (rendered.kind !== 'value') return rendered;
    const { quotes } = this.#unitOf(kind);
    return this.#settle(async () => chosenKind(rendered.value, child, quotes));
  }

  async manifest(childId: string, element: Element, kind?: Gvk): Promise<Rendered<KubeObject>> {
    const child = this.#child(childId);
    const isChosen = ({ definition: { gvk } }: CompiledChild) =>
      kind !== undefined && gvkKey(gvk) === gvkKey(kind);
    const { template } = variantsOf(child).find(isChosen) ?? child;
    const unit = this.#unitOf(template);
    const scope = this.#scopeFor(unit.uses, this.#elementOf(childId, element));
    const { quotes } = unit;
    const options = { scope, quotes, missing: this.#missing({ scope, quotes }) };
    return this.#evaluate(unit.uses, async () =>
      checkManifest(await render(template, options), template, unit),
    );
  }

  async name(childId: string, element: Element): Promise<Rendered<string>> {
    const { name } = this.#child(childId);
    if (name === undefined) return { kind: 'missing' };
    const rendered = await this.#render(name, this.#elementOf(childId, element));
    if (rendered.kind !== 'value') return rendered;
    const { value } = rendered;
    const isName = typeof value === 'string' && isObjectName(value);
    return isName ? { kind: 'value', value } : { kind: 'missing' };
  }

  async ready(childId: string, child: KubeObject, element: Element): Promise<Rendered<boolean>> {
    const { ready } = this.#child(childId);
    invariant(ready !== undefined, `Child "${childId}" has no "ready"`);
    const rendered = await this.#render(ready, { ...this.#elementOf(childId, element), child });
    if (rendered.kind === 'missing') return { kind: 'value', value: false };
    return rendered as Rendered<boolean>;
  }

  async gate(childId: string, element: Element): Promise<Rendered<boolean>> {
    const { gate } = this.#child(childId);
    invariant(gate !== undefined, `Child "${childId}" has no "gate"`);
    const rendered = await this.#render(gate, this.#elementOf(childId, element));
    if (rendered.kind === 'missing') return { kind: 'value', value: false };
    return rendered as Rendered<boolean>;
  }

  async deleteWhen(childId: string, child: KubeObject): Promise<Rendered<boolean>> {
    const { deleteWhen } = this.#child(childId);
    invariant(deleteWhen !== undefined, `Child "${childId}" has no "deleteWhen"`);
    const rendered = await this.#render(deleteWhen, { child });
    if (rendered.kind === 'missing') return { kind: 'value', value: false };
    return rendered as Rendered<boolean>;
  }

  async deletionTime(): Promise<Rendered<DeletionTime>> {
    const { deleteAfter } = this.#parts;
    invariant(deleteAfter !== undefined, 'The plan has no "deleteAfter"');
    const { ttl, since } = deleteAfter;
    const from = await this.#render(since);
    if (from.kind !== 'value') return from;
    const after = await this.#render(ttl);
    if (after.kind !== 'value') return after;
    const quotes = [ttl, since].every((template) => this.#unitOf(template).quotes);
    return this.#settle(async () => deletionTime(deleteAfter, { from, after, quotes }));
  }

  async status(): ReturnType<Phase['status']> {
    const fields: Record<string, unknown> = {};
    const failures: RenderFailure[] = [];
    const kept: string[] = [];
    for (const [name, template] of this.#parts.status) {
      if (this.isUnknown(template)) {
        kept.push(name);
        continue;
      }
      const rendered = await this.#render(template);
      if (rendered.kind === 'value') fields[name] = rendered.value;
      else if (rendered.kind === 'failed') failures.push(rendered.failure);
    }
    return { fields, failures, ...(kept.length > 0 && { kept }) };
  }

  /** Whether a template depends on an `unknown` input. */
  isUnknown(template: CompiledTemplate): boolean {
    const { children, reads, observed } = this.#unitOf(template).uses;
    return (
      children.some((id) => this.#children.unknown.has(id)) ||
      reads.some((id) => this.#reads.unknown.has(id)) ||
      observed.some((id) => this.#observed.unknown.has(id))
    );
  }

  /** Evaluates a template that belongs to no child. `needsValues`: a value that other objects lack is not omitted. */
  async value(template: CompiledTemplate, needs: Needs = {}): Promise<Rendered<unknown>> {
    const rendered = await this.#render(template, needs.element, needs);
    const [slot] = template.slots;
    if (rendered.kind !== 'missing' || needs.reason !== true || slot === undefined) return rendered;
    const { quotes } = this.#unitOf(template);
    const cause = await this.#explain(slot, 'value', { scope: this.#scope, quotes });
    if (cause?.kind !== 'failed') return rendered;
    return { ...rendered, why: missingText(missingValue(slot), cause) };
  }

  #child(id: string): CompiledChild {
    return requireEntry(this.#parts.children, id);
  }

  #unitOf(template: CompiledTemplate): EvaluationUnit {
    return requireEntry(this.#parts.units, template);
  }

  /** What depends on the present is evaluated more slowly, so only such templates are followed. */
  #scopeFor({ present }: Dependencies, variables?: Partial<Scope>): Scope {
    const scope = present ? this.#presentScope : this.#scope;
    return variables === undefined ? scope : { ...scope, ...variables };
  }

  #elementOf(childId: string, { item, index }: Element): Partial<Scope> | undefined {
    return this.#child(childId).forEach === undefined ? undefined : { item, index };
  }

  #render(
    template: CompiledTemplate,
    variables?: Partial<Scope>,
    needs: Needs = {},
  ): Promise<Rendered<unknown>> {
    const { quotes, uses } = this.#unitOf(template);
    const scope = this.#scopeFor(uses, variables);
    const waits = needs.values === true || this.#isWaiting;
    const missing = this.#missing({ scope, quotes, waits, omits: needs.values !== true });
    return this.#evaluate(uses, () => render(template, { scope, quotes, missing }), waits);
  }

  #missing({
    scope = this.#scope,
    quotes,
    omits = false,
    waits = this.#isWaiting,
  }: MissingOptions): MissingHandler {
    const explain = (slot: Slot, found: FoundValue) =>
      this.#explain(slot, found, { scope, quotes });
    return {
      evaluated: async (slot, value) => {
        if (omits || (value !== undefined && this.#gaps.size === 0)) return;
        const cause = await explain(slot, value === undefined ? 'value' : 'present');
        if (cause === undefined || (cause.kind === 'waiting' && !waits)) return;
        throw missingError(slot, missingValue(slot), cause);
      },
      failed: async (slot, error) => {
        const cause = await explain(slot, 'error');
        if (cause === undefined || (cause.kind === 'waiting' && !waits)) return error;
        return missingError(slot, error.message, cause);
      },
    };
  }

  #explain(
    slot: Slot,
    found: FoundValue,
    options: Pick<MissingFacts, 'scope' | 'quotes'>,
  ): Promise<Missing | undefined> {
    return this.#parts.missing.explain(slot, found, {
      ...options,
      gaps: new Set([...this.#gaps.values()].flatMap((slots) => [...slots])),
      input: (root, id) => (root === 'children' ? this.#children : this.#reads).seen.get(id),
    });
  }

  /** Returns `waiting`, or evaluates the vars and then the template. */
  async #evaluate<T>(
    uses: Dependencies,
    evaluate: () => Promise<T | undefined>,
    waits = this.#isWaiting,
  ): Promise<Rendered<T>> {
    const on = this.#isWaiting ? this.#waitsFor(uses) : [];
    if (on.length > 0) return { kind: 'waiting', on };
    for (const name of uses.vars) {
      const rendered = await this.#var(name);
      if (rendered.kind === 'failed' || (rendered.kind === 'waiting' && waits)) return rendered;
    }
    return this.#settle(evaluate, waits);
  }

  #waitsFor({ children, reads, observed, history }: Dependencies): readonly string[] {
    return [
      ...(history && this.#lacksHistory ? ['history'] : []),
      ...waitingOf(this.#children, children),
      ...waitingOf(this.#reads, reads),
      ...waitingOf(this.#observed, observed),
    ];
  }

  /** Evaluates a var. The vars it uses are already evaluated, and none of its inputs is waiting. */
  #var(name: string): Promise<Rendered<unknown>> {
    const rendered = this.#vars.get(name) ?? this.#evaluateVar(name);
    this.#vars.set(name, rendered);
    return rendered;
  }

  async #evaluateVar(name: string): Promise<Rendered<unknown>> {
    const template = requireEntry(this.#parts.vars, name);
    const { quotes, uses } = this.#unitOf(template);
    const gaps = new Set<Slot>();
    const missing: MissingHandler = {
      ...this.#missing({ quotes }),
      // What the var is used for decides.
      evaluated: async (slot, value) => {
        if (value === undefined) gaps.add(slot);
      },
    };
    const rendered = await this.#settle(() =>
      render(template, { scope: this.#scopeFor(uses), quotes, missing }),
    );
    if (gaps.size > 0) this.#gaps.set(name, gaps);
    if (rendered.kind === 'value') this.#varValues[name] = rendered.value;
    return rendered;
  }

  async #settle<T>(
    evaluate: () => Promise<T | undefined>,
    waits = this.#isWaiting,
  ): Promise<Rendered<T>> {
    try {
      const value = await evaluate();
      return value === undefined ? { kind: 'missing' } : { kind: 'value', value };
    } catch (error) {
      if (error instanceof MissingInput && waits) return { kind: 'waiting', on: error.on };
      return this.#failed(error);
    }
  }

  /** Any other error than a RenderError is a bug. */
  #failed(error: unknown): Extract<Rendered<never>, { kind: 'failed' }> {
    if (!(error instanceof RenderError)) throw error;
    const { failure, path } = error;
    this.#parts.coverage?.fail?.(failure, path);
    return { kind: 'failed', failure };
  }
}

/** How a template is evaluated. */
export interface Needs {
  /** A value that other objects lack is not omitted, and waited for in the reporting phase, too. @default false */
  readonly values?: boolean;
  /** A missing value has its reason. @default false */
  readonly reason?: boolean;
  /** `$item` and `$index`. @default undefined: it has none */
  readonly element?: Element | undefined;
}

const needsValues: Needs = Object.freeze({ values: true });

interface MissingOptions {
  readonly scope?: Scope;
  readonly quotes: boolean;
  /** A field without a value is omitted, whatever the reason is. @default false */
  readonly omits?: boolean;
  /** Values that other objects may get are waited for. @default in the phase *wanting* */
  readonly waits?: boolean;
}

function missingError(slot: Slot, message: string, cause: Missing): Error {
  if (cause.kind === 'waiting') return new MissingInput(cause.on);
  return new RenderError('missing-value', missingText(message, cause), slot.place, true);
}

function missingText(message: string, { why }: Extract<Missing, { kind: 'failed' }>): string {
  return `${message}, because ${why}`;
}

/** Children, observed children or reads: the available values, and the names of those that are waiting. */
interface InputSet {
  readonly root: 'children' | 'observed' | 'reads';
  readonly values: Record<string, unknown>;
  readonly seen: Map<string, ExpressionInput>;
  readonly waiting: Map<string, string>;
  readonly unknown: Set<string>;
}

function createInputSet(
  root: InputSet['root'],
  ids: Iterable<string>,
  start: ReadonlyMap<string, ExpressionInput> | undefined,
): InputSet {
  const known: InputSet = {
    root,
    values: {},
    seen: new Map(),
    waiting: new Map(),
    unknown: new Set(),
  };
  for (const id of ids) {
    const seen = start?.get(id);
    if (seen === undefined) known.waiting.set(id, `${root}.${id}`);
    else setInput(known, id, seen);
  }
  return known;
}

function setInput(set: InputSet, id: string, seen: ExpressionInput): void {
  const { values, waiting, unknown } = set;
  set.seen.set(id, seen);
  delete values[id];
  waiting.delete(id);
  unknown.delete(id);
  if (seen.state === 'present') values[id] = seen.value;
  else if (seen.state === 'waiting') waiting.set(id, seen.on);
  else if (seen.state === 'unknown') unknown.add(id);
}

function waitingOf({ waiting }: InputSet, ids: readonly string[]): readonly string[] {
  return ids.flatMap((id) => waiting.get(id) ?? []);
}
