import type { Gvk } from '../../util/gvk.ts';
import type { ReportingParts } from '../reporting-parts.ts';
import type { CompiledTemplate } from '../template/template.ts';
import type { Unit } from './plan-parts.ts';

/** What the report phases of a plan evaluate, shared by all of them. */
export interface ReportUnits {
  readonly conditions: readonly {
    readonly type: string;
    readonly status: Unit;
    readonly reason?: Unit;
    readonly message?: Unit;
  }[];
  readonly events: readonly {
    readonly type: 'Normal' | 'Warning';
    readonly when: Unit;
    readonly reason: Unit;
    readonly message?: Unit;
  }[];
  /** By id. */
  readonly patches: ReadonlyMap<string, PatchUnits>;
  readonly requeueAfter?: Unit;
}

export interface PatchUnits {
  readonly when?: Unit;
  readonly name?: Unit;
  readonly namespace?: Unit;
  readonly patch: Unit;
}

interface UnitMakers {
  unitOf(template: CompiledTemplate): Unit;
  /** `target`: undefined: the resource itself. */
  patchUnit(template: CompiledTemplate, target: Gvk | undefined): Unit;
}

/** Puts templates and what they use together. */
export function createReportUnits(
  parts: ReportingParts,
  { unitOf, patchUnit }: UnitMakers,
): ReportUnits {
  const { conditions, events, patches, requeueAfter } = parts;
  return {
    conditions: conditions.map(({ definition, status, reason, message }) => ({
      type: definition.type,
      status: unitOf(status),
      ...(reason && { reason: unitOf(reason) }),
      ...(message && { message: unitOf(message) }),
    })),
    events: events.map(({ definition, when, reason, message }) => ({
      type: definition.type,
      when: unitOf(when),
      reason: unitOf(reason),
      ...(message && { message: unitOf(message) }),
    })),
    patches: new Map(
      patches.map((each) => [
        each.definition.id,
        {
          ...(each.when && { when: unitOf(each.when) }),
          ...(each.name && { name: unitOf(each.name) }),
          ...(each.namespace && { namespace: unitOf(each.namespace) }),
          patch: patchUnit(each.patch, each.definition.target?.gvk),
        },
      ]),
    ),
    ...(requeueAfter && { requeueAfter: unitOf(requeueAfter) }),
  };
}
