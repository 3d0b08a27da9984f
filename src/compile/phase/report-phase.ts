import { parseDurationMs } from '../../util/duration.ts';
import { invariant } from '../../util/invariant.ts';
import type { Rendered, RenderFailure } from '../operator-plan.ts';
import type {
  RenderedCondition,
  RenderedEvent,
  RenderedPatch,
  ReportPhase,
} from '../reporting-plan.ts';
import { missingValue } from '../template/missing-value.ts';
import { isObjectName } from './object-name.ts';
import { ownNameError } from './own-names.ts';
import type { Unit } from './plan-parts.ts';
import type { PatchUnits, ReportUnits } from './report-units.ts';

/** Evaluates one unit in the phase *reporting*. */
export type Evaluate = (unit: Unit) => Promise<Rendered<unknown>>;

/** Begins a look at the world; see {@link ReportPhase}. */
export function startReportPhase(units: ReportUnits, evaluate: Evaluate): ReportPhase {
  return new UnitReportPhase(units, evaluate);
}

class UnitReportPhase implements ReportPhase {
  readonly #units: ReportUnits;
  readonly #evaluate: Evaluate;

  constructor(units: ReportUnits, evaluate: Evaluate) {
    this.#units = units;
    this.#evaluate = evaluate;
  }

  conditions(): Promise<readonly RenderedCondition[]> {
    return Promise.all(this.#units.conditions.map((units) => this.#condition(units)));
  }

  async events(): ReturnType<ReportPhase['events']> {
    const events: RenderedEvent[] = [];
    const failures: RenderFailure[] = [];
    const all = await Promise.all(this.#units.events.map((units) => this.#event(units)));
    for (const rendered of all) {
      if (rendered.kind === 'value') events.push(rendered.value);
      if (rendered.kind === 'failed') failures.push(rendered.failure);
    }
    return { events, failures };
  }

  async patch(id: string): Promise<Rendered<RenderedPatch>> {
    const units = this.#units.patches.get(id);
    invariant(units !== undefined, `The plan has no patch "${id}"`);
    const wanted = units.when === undefined ? asTrue : await this.#boolean(units.when);
    if (wanted.kind !== 'value') return wanted;
    return wanted.value ? this.#wantedPatch(units) : { kind: 'missing' };
  }

  async requeueAfter(): Promise<Rendered<number>> {
    const { requeueAfter } = this.#units;
    if (requeueAfter === undefined) return { kind: 'missing' };
    const rendered = await this.#evaluate(requeueAfter);
    if (rendered.kind !== 'value') return rendered;
    const ms = parseDurationMs(String(rendered.value));
    if (ms !== undefined) return { kind: 'value', value: ms };
    return failed(requeueAfter, 'Expected a duration such as "30s" or "5m"');
  }

  async #condition({
    type,
    status: statusUnit,
    reason: reasonUnit,
    message: messageUnit,
  }: ReportUnits['conditions'][number]): Promise<RenderedCondition> {
    const rendered = await this.#evaluate(statusUnit);
    const status = statusOf(rendered, statusUnit);
    const reason = await this.#text(reasonUnit, conditionReason);
    const message = await this.#text(messageUnit);
    for (const each of [status, reason, message]) {
      if (each.kind === 'failed') return unknownCondition(type, each.failure);
    }
    const state = status.kind === 'value' ? status.value : 'Unknown';
    return {
      type,
      status: state,
      reason: reason.kind === 'value' ? reason.value : reasonFor(type, state),
      message: message.kind === 'value' ? message.value : '',
    };
  }

  async #event({
    type,
    when,
    reason: reasonUnit,
    message: messageUnit,
  }: ReportUnits['events'][number]): Promise<Rendered<RenderedEvent>> {
    const wanted = await this.#boolean(when);
    if (wanted.kind !== 'value') return wanted;
    if (!wanted.value) return { kind: 'missing' };
    const reason = await this.#text(reasonUnit, eventReason);
    if (reason.kind === 'missing') return missing(reasonUnit);
    if (reason.kind !== 'value') return reason;
    const message = await this.#text(messageUnit);
    if (message.kind === 'failed') return message;
    const text = message.kind === 'value' ? message.value : '';
    return { kind: 'value', value: { type, reason: reason.value, message: text } };
  }

  async #wantedPatch(units: PatchUnits): Promise<Rendered<RenderedPatch>> {
    const names: { name?: string; namespace?: string } = {};
    for (const field of ['name', 'namespace'] as const) {
      const unit = units[field];
      if (unit === undefined) continue;
      const rendered = await this.#text(unit, objectName);
      if (rendered.kind === 'missing') return missing(unit);
      if (rendered.kind !== 'value') return rendered;
      names[field] = rendered.value;
    }
    const fields = await this.#evaluate(units.patch);
    if (fields.kind !== 'value') return fields;
    const error = ownNameError(fields.value, units.patch);
    if (error !== undefined) return { kind: 'failed', failure: error.failure };
    return {
      kind: 'value',
      value: { ...names, fields: fields.value as RenderedPatch['fields'] },
    };
  }

  /** Missing is a failure. */
  async #boolean(unit: Unit): Promise<Rendered<boolean>> {
    const rendered = await this.#evaluate(unit);
    return rendered.kind === 'missing' ? missing(unit) : (rendered as Rendered<boolean>);
  }

  async #text(unit: Unit | undefined, check?: TextCheck): Promise<Rendered<string>> {
    if (unit === undefined) return { kind: 'missing' };
    const rendered = await this.#evaluate(unit);
    if (rendered.kind !== 'value') return rendered;
    const value = String(rendered.value);
    return check === undefined || check.isRight(value)
      ? { kind: 'value', value }
      : failed(unit, check.expected);
  }
}

const asTrue: Rendered<boolean> = { kind: 'value', value: true };

interface TextCheck {
  readonly isRight: (text: string) => boolean;
  readonly expected: string;
}

const conditionReason: TextCheck = {
  isRight: (text) => text.length <= 1024 && /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(text),
  expected: 'Expected a reason in CamelCase',
};
const eventReason: TextCheck = {
  isRight: (text) => text.length <= 128 && /^[A-Za-z][A-Za-z0-9]*$/.test(text),
  expected: 'Expected a reason in CamelCase of at most 128 characters',
};
const objectName: TextCheck = { isRight: isObjectName, expected: 'Expected the name of an object' };

function statusOf(rendered: Rendered<unknown>, unit: Unit): Rendered<RenderedCondition['status']> {
  if (rendered.kind !== 'value') return rendered;
  const { value } = rendered;
  if (typeof value === 'boolean') return { kind: 'value', value: value ? 'True' : 'False' };
  const status = (['True', 'False', 'Unknown'] as const).find((each) => each === value);
  if (status !== undefined) return { kind: 'value', value: status };
  return failed(unit, 'Expected a boolean, or one of "True", "False" and "Unknown"');
}

function unknownCondition(type: string, failure: RenderFailure): RenderedCondition {
  const { message, field } = failure;
  const text = message.includes(field) ? message : `${field}: ${message}`;
  return { type, status: 'Unknown', reason: 'RenderFailed', message: text, failure };
}

/** The API asks for a reason, and the author gave none. */
function reasonFor(type: string, status: RenderedCondition['status']): string {
  if (status === 'Unknown') return 'Unknown';
  const word = type.replace(/^.*\//, '').replaceAll(/[^A-Za-z0-9]/g, '');
  return status === 'True' ? word : `Not${word}`;
}

function missing(unit: Unit): Extract<Rendered<never>, { kind: 'failed' }> {
  const { slots, place } = unit.template;
  return {
    kind: 'failed',
    failure: { code: 'missing-value', message: missingValue(slots[0]), ...place },
  };
}

function failed(unit: Unit, message: string): Extract<Rendered<never>, { kind: 'failed' }> {
  return { kind: 'failed', failure: { code: 'wrong-type', message, ...unit.template.place } };
}
