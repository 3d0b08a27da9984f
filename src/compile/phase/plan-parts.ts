import type { Gvk } from '../../util/gvk.ts';
import type { SecretFlow } from '../analysis/secret-flow.ts';
import type { Uses, UsesFinder } from '../analysis/uses.ts';
import {
  type ChildParts,
  type DefinitionParts,
  isSecret,
  templatesOfRead,
} from '../definition-parts.ts';
import type { OperatorPlan } from '../operator-plan.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { createForEach, type ForEach } from './for-each.ts';
import { nameTemplate } from './name-template.ts';
import { namingSlots } from './own-names.ts';
import { createRenderRequest, type RenderRequest } from './read-request.ts';
import { createReportUnits, type ReportUnits } from './report-units.ts';

/** Something that is evaluated as a whole: it waits, fails or has a result. */
export interface Unit {
  readonly template: CompiledTemplate;
  readonly uses: Uses;
  /** False: the values may come from a Secret and must not be quoted. */
  readonly quotes: boolean;
  /** Of a manifest: what can name labels and annotations, if anything can. */
  readonly naming?: readonly Slot[];
}

/** What the phases of a plan evaluate, shared by all of them. */
export interface PlanParts {
  readonly definition: OperatorPlan['definition'];
  readonly vars: ReadonlyMap<string, Unit>;
  readonly reads: ReadonlyMap<string, ReadUnit>;
  readonly children: ReadonlyMap<string, ChildUnit>;
  readonly status: ReadonlyMap<string, Unit>;
  readonly report?: ReportUnits;
  /** Ids of the children that any expression sees under `observed`. */
  readonly observed: readonly string[];
}

export interface ReadUnit {
  readonly uses: Uses;
  readonly request: RenderRequest;
}

export interface ChildUnit {
  readonly manifest: Unit;
  /** `metadata.name` by itself, where it is. */
  readonly name?: Unit;
  readonly when?: Unit;
  readonly forEach?: { readonly uses: Uses; readonly list: ForEach };
  readonly ready?: Unit;
  readonly deleteWhen?: Unit;
}

export interface PlanPartsOptions {
  readonly definition: OperatorPlan['definition'];
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  readonly secrets: SecretFlow;
  /** Ids of the children that any expression sees under `observed`. */
  readonly observed: readonly string[];
}

/** Puts templates and what they use together. */
export function createPlanParts({
  definition,
  parts,
  uses,
  secrets,
  observed,
}: PlanPartsOptions): PlanParts {
  function unitOf(template: CompiledTemplate, childId?: string): Unit {
    const quotes = !secrets.reaches([template], childId);
    return { template, uses: uses.of(template), quotes };
  }

  function manifestUnit(template: CompiledTemplate, gvk: Gvk, childId?: string): Unit {
    const naming = namingSlots(template);
    const unit = unitOf(template, childId);
    return {
      ...unit,
      quotes: unit.quotes && !isSecret(gvk),
      ...(naming.length > 0 && { naming }),
    };
  }

  function childUnit({
    definition: { id, gvk },
    template,
    when,
    forEach,
    ready,
    deleteWhen,
  }: ChildParts): ChildUnit {
    const name = nameTemplate(template);
    return {
      manifest: manifestUnit(template, gvk, id),
      ...(name && { name: unitOf(name, id) }),
      ...(when && { when: unitOf(when) }),
      ...(forEach && {
        forEach: { uses: uses.of(forEach), list: createForEach(forEach, parts.vars) },
      }),
      ...(ready && { ready: unitOf(ready, id) }),
      ...(deleteWhen && { deleteWhen: unitOf(deleteWhen, id) }),
    };
  }

  const units = (templates: ReadonlyMap<string, CompiledTemplate>) =>
    new Map([...templates].map(([name, template]) => [name, unitOf(template)] as const));
  return {
    definition,
    vars: units(parts.vars),
    reads: new Map(
      parts.reads.map((read) => [
        read.definition.id,
        {
          uses: uses.of(...templatesOfRead(read)),
          request: createRenderRequest(read, {
            vars: parts.vars,
            quotes: !secrets.reaches(templatesOfRead(read)),
          }),
        },
      ]),
    ),
    children: new Map(parts.children.map((child) => [child.definition.id, childUnit(child)])),
    status: units(parts.status),
    ...(parts.reporting && {
      report: createReportUnits(parts.reporting, {
        unitOf: (template) => unitOf(template),
        patchUnit: (template, target) => manifestUnit(template, target ?? definition.kind.gvk),
      }),
    }),
    observed,
  };
}
