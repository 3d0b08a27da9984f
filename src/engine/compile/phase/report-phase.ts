import { canonicalJson } from '#util/canonical-json.ts';
import type { CronSchedule } from '#util/cron.ts';
import { parseDurationMs } from '#util/duration.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { invariant } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import { sha256Hex } from '#util/sha256.ts';
import {
  type CompiledCondition,
  type CompiledEvent,
  type CompiledPatch,
  isRestore,
} from '../compiled-templates.ts';
import type { Element, Rendered, RenderFailure } from '../operator-plan.ts';
import type {
  PatchElement,
  RenderedCondition,
  RenderedEvent,
  RenderedPatch,
  ReportPhase,
  TargetNames,
} from '../reporting-plan.ts';
import { RenderError } from '../template/render-error.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { missingValue } from '../template/values.ts';
import { type EvaluationPlan, requireEntry } from './evaluation-plan.ts';
import type { ForEach } from './for-each.ts';
import { isObjectName, reservedNameError } from './manifest.ts';
import type { Needs } from './phase.ts';

interface ReportPhaseOptions {
  readonly parts: EvaluationPlan;
  /** Evaluates one template in the *reporting* phase. */
  readonly evaluate: (template: CompiledTemplate, needs?: Needs) => Promise<Rendered<unknown>>;
  /** Evaluates the elements of a list. */
  readonly elements: (list: ForEach) => Promise<Rendered<readonly Element[]>>;
  /** Whether a template depends on an `unknown` input. */
  readonly isUnknown: (template: CompiledTemplate) => boolean;
}

/** See {@link ReportPhase}. */
export class TemplateReportPhase implements ReportPhase {
  readonly #parts: EvaluationPlan;
  readonly #evaluate: ReportPhaseOptions['evaluate'];
  readonly #elements: ReportPhaseOptions['elements'];
  readonly #isUnknown: ReportPhaseOptions['isUnknown'];

  constructor({ parts, evaluate, elements, isUnknown }: ReportPhaseOptions) {
    this.#parts = parts;
    this.#elements = elements;
    this.#isUnknown = isUnknown;
    // Without the value there is no Event, patch or delay.
    this.#evaluate = async (template, needs) =>
      isUnknown(template) ? unknownValue : evaluate(template, needs);
  }

  conditions(): Promise<readonly RenderedCondition[]> {
    return Promise.all(this.#parts.reporting.conditions.map((each) => this.#condition(each)));
  }

  async events(): ReturnType<ReportPhase['events']> {
    const events: RenderedEvent[] = [];
    const failures: RenderFailure[] = [];
    const all = await Promise.all(this.#parts.reporting.events.map((each) => this.#event(each)));
    for (const rendered of all) {
      if (rendered.kind === 'value') events.push(rendered.value);
      if (rendered.kind === 'failed') failures.push(rendered.failure);
    }
    return { events, failures };
  }

  async patch(id: string): Promise<Rendered<readonly PatchElement[]>> {
    const patch = this.#parts.reporting.patches.find(({ definition }) => definition.id === id);
    invariant(patch !== undefined, `The plan has no patch "${id}"`);
    const wanted = patch.when === undefined ? alwaysTrue : await this.#boolean(patch.when);
    if (wanted.kind !== 'value') return wanted;
    if (!wanted.value) return { kind: 'missing' };
    const list = this.#parts.targets.get(id);
    if (list === undefined)
      return { kind: 'value', value: [await this.#patchElement(patch, undefined)] };
    const elements = this.#isUnknown(list.template) ? unknownValue : await this.#elements(list);
    if (elements.kind !== 'value') return elements;
    const rendered: PatchElement[] = [];
    for (const element of elements.value) rendered.push(await this.#patchElement(patch, element));
    return { kind: 'value', value: rendered };
  }

  async requeueAfter(): Promise<Rendered<number>> {
    const { requeueAfter } = this.#parts.reporting;
    if (requeueAfter === undefined) return { kind: 'missing' };
    const rendered = await this.#evaluate(requeueAfter);
    if (rendered.kind !== 'value') return rendered;
    const ms = parseDurationMs(String(rendered.value));
    if (ms !== undefined) return { kind: 'value', value: ms };
    return failed(requeueAfter, 'Expected a duration such as "30s" or "5m"');
  }

  async schedule(): Promise<Rendered<CronSchedule>> {
    const { cron, schedules } = this.#parts.reporting;
    if (cron === undefined || schedules === undefined) return { kind: 'missing' };
    const rendered = await this.#evaluate(cron);
    if (rendered.kind !== 'value') return rendered;
    const value = schedules.get(String(rendered.value));
    return value === undefined
      ? failed(cron, 'Expected a cron expression such as "0 3 * * *"')
      : { kind: 'value', value };
  }

  async #condition(parts: CompiledCondition): Promise<RenderedCondition> {
    const { type } = parts.definition;
    const templates = [parts.status, parts.reason, parts.message];
    if (templates.some((each) => each !== undefined && this.#isUnknown(each)))
      return { type, status: 'Unknown', reason: 'Unknown', message: '', isKept: true };
    const found = await this.#evaluate(parts.status, { reason: true });
    const status = statusOf(found, parts.status);
    const reason = await this.#text(parts.reason, { check: conditionReason });
    const message = await this.#text(parts.message);
    for (const each of [status, reason, message]) {
      if (each.kind === 'failed') return unknownCondition(type, each.failure);
    }
    const state = status.kind === 'value' ? status.value : 'Unknown';
    return {
      type,
      status: state,
      reason: reason.kind === 'value' ? reason.value : defaultReason(type, state),
      message: message.kind === 'value' ? message.value : whyOf(found),
    };
  }

  async #event(parts: CompiledEvent): Promise<Rendered<RenderedEvent>> {
    const { type } = parts.definition;
    const wanted = await this.#boolean(parts.when);
    if (wanted.kind !== 'value') return wanted;
    if (!wanted.value) return { kind: 'missing' };
    const reason = await this.#text(parts.reason, { check: eventReason });
    if (reason.kind === 'missing') return missing(parts.reason);
    if (reason.kind !== 'value') return reason;
    const message = await this.#text(parts.message);
    if (message.kind === 'failed') return message;
    const text = message.kind === 'value' ? message.value : '';
    return { kind: 'value', value: { type, reason: reason.value, message: text } };
  }

  async #patchElement(parts: CompiledPatch, element: Element | undefined): Promise<PatchElement> {
    const once = parts.once && (await this.#evaluate(parts.once, { element }));
    // Without a value it is not sent. The target of an element is evaluated in any case: it identifies the element.
    const unsent = once?.kind === 'value' ? undefined : once;
    if (unsent !== undefined && element === undefined) return { patch: unsent };
    const names = await this.#names(parts, element);
    if (names.kind !== 'value') return { patch: unsent ?? names };
    const known = names.value.name === undefined ? {} : { target: names.value };
    if (unsent !== undefined) return { ...known, patch: unsent };
    const patch = await this.#renderPatch(parts, names.value, element);
    if (patch.kind === 'value' && once?.kind === 'value') {
      const digest = sha256Hex(canonicalJson(once.value)).slice(0, digestLength);
      return { ...known, patch: { kind: 'value', value: { ...patch.value, once: digest } } };
    }
    return { ...known, patch };
  }

  /** Name and namespace of the target. */
  async #names(parts: CompiledPatch, element: Element | undefined): Promise<Rendered<TargetNames>> {
    const names: { name?: string; namespace?: string } = {};
    for (const field of ['name', 'namespace'] as const) {
      const template = parts[field];
      if (template === undefined) continue;
      const rendered = await this.#text(template, { check: objectName, element });
      // A recorded object of a cluster-scoped kind has none.
      if (rendered.kind === 'missing' && field === 'namespace' && isRestore(parts.definition))
        continue;
      if (rendered.kind === 'missing') return missing(template);
      if (rendered.kind !== 'value') return rendered;
      names[field] = rendered.value;
    }
    return { kind: 'value', value: names };
  }

  async #renderPatch(
    parts: CompiledPatch,
    names: TargetNames,
    element: Element | undefined,
  ): Promise<Rendered<RenderedPatch>> {
    const gvk = parts.definition.target?.computed && (await this.#kind(parts));
    if (gvk !== undefined && gvk.kind !== 'value') return gvk;
    // A field that a patch omits is removed from its target.
    const fields = await this.#evaluate(parts.patch, { values: true, element });
    if (fields.kind === 'missing') return missing(parts.patch);
    if (fields.kind !== 'value') return fields;
    if (!isJsonObject(fields.value)) return failed(parts.patch, 'Expected a map');
    const error = reservedNameError(fields.value, requireEntry(this.#parts.units, parts.patch));
    if (error !== undefined) return { kind: 'failed', failure: error.failure };
    return {
      kind: 'value',
      value: { ...names, ...(gvk && { gvk: gvk.value }), fields: fields.value },
    };
  }

  /** The kind of the target. */
  async #kind({ apiVersion, kind }: CompiledPatch): Promise<Rendered<Gvk>> {
    const texts: string[] = [];
    for (const template of [apiVersion, kind]) {
      const rendered = await this.#text(template);
      if (rendered.kind === 'missing' && template !== undefined) return missing(template);
      if (rendered.kind !== 'value') return rendered as Rendered<never>;
      texts.push(rendered.value);
    }
    const [version = '', name = ''] = texts;
    return { kind: 'value', value: gvkOf(version, name) };
  }

  /** A missing value is a failure. */
  async #boolean(template: CompiledTemplate): Promise<Rendered<boolean>> {
    const rendered = await this.#evaluate(template);
    return rendered.kind === 'missing' ? missing(template) : (rendered as Rendered<boolean>);
  }

  async #text(
    template: CompiledTemplate | undefined,
    { check, element }: TextOptions = {},
  ): Promise<Rendered<string>> {
    if (template === undefined) return { kind: 'missing' };
    const rendered = await this.#evaluate(template, { element });
    if (rendered.kind !== 'value') return rendered;
    const value = String(rendered.value);
    return check === undefined || check.isValid(value)
      ? { kind: 'value', value }
      : failed(template, check.expected);
  }
}

const unknownValue: Rendered<never> = { kind: 'waiting', on: [] };
/** Digits of a digest of a value of `once`. */
const digestLength = 16;

const alwaysTrue: Rendered<boolean> = { kind: 'value', value: true };

interface TextOptions {
  readonly check?: TextCheck;
  readonly element?: Element | undefined;
}

interface TextCheck {
  readonly isValid: (text: string) => boolean;
  readonly expected: string;
}

const conditionReason: TextCheck = {
  isValid: (text) => text.length <= 1024 && /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(text),
  expected: 'Expected a reason in CamelCase',
};
const eventReason: TextCheck = {
  isValid: (text) => text.length <= 128 && /^[A-Za-z][A-Za-z0-9]*$/.test(text),
  expected: 'Expected a reason in CamelCase of at most 128 characters',
};
const objectName: TextCheck = { isValid: isObjectName, expected: 'Expected an object name' };

/** For a condition without a message of its own: why it is unknown. */
function whyOf(status: Rendered<unknown>): string {
  return status.kind === 'missing' ? (status.why ?? '') : '';
}

function statusOf(
  rendered: Rendered<unknown>,
  template: CompiledTemplate,
): Rendered<RenderedCondition['status']> {
  if (rendered.kind !== 'value') return rendered;
  const { value } = rendered;
  if (typeof value === 'boolean') return { kind: 'value', value: value ? 'True' : 'False' };
  const status = (['True', 'False', 'Unknown'] as const).find((each) => each === value);
  if (status !== undefined) return { kind: 'value', value: status };
  return failed(template, 'Expected a boolean, or one of "True", "False" and "Unknown"');
}

function unknownCondition(type: string, failure: RenderFailure): RenderedCondition {
  const { message, field } = failure;
  const text = message.includes(field) ? message : `${field}: ${message}`;
  return { type, status: 'Unknown', reason: 'RenderFailed', message: text, failure };
}

/** The default reason, because the API requires one. */
function defaultReason(type: string, status: RenderedCondition['status']): string {
  if (status === 'Unknown') return 'Unknown';
  const word = type.replace(/^.*\//, '').replaceAll(/[^A-Za-z0-9]/g, '');
  return status === 'True' ? word : `Not${word}`;
}

function missing({ slots, place }: CompiledTemplate): Extract<Rendered<never>, { kind: 'failed' }> {
  return {
    kind: 'failed',
    failure: new RenderError('missing-value', missingValue(slots[0]), place).failure,
  };
}

function failed(
  { place }: CompiledTemplate,
  message: string,
): Extract<Rendered<never>, { kind: 'failed' }> {
  return { kind: 'failed', failure: new RenderError('wrong-type', message, place).failure };
}
