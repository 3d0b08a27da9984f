import type { Gvk } from '#util/gvk.ts';
import { invariant } from '#util/homeostat-error.ts';
import type { Dependencies } from '../analysis/dependencies.ts';
import {
  createItemParents,
  createOptionalParents,
  type FindOptionalParents,
} from '../analysis/optional-parents.ts';
import type { PartOf } from '../analysis/secret-flow.ts';
import type { PlanContext } from '../check-context.ts';
import {
  type CompiledChild,
  type CompiledTemplates,
  isSecret,
  templatesOfRead,
} from '../compiled-templates.ts';
import type { OperatorPlan } from '../operator-plan.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { listOfItems, type TemplateUse } from '../template-uses.ts';
import { createForEach, type ForEach } from './for-each.ts';
import { computedMetadataSlot } from './manifest.ts';
import { createMissingValues, type MissingValues } from './missing-values.ts';
import { createRenderRequest, type RenderRequest } from './read-request.ts';

/** A template that is evaluated as one unit: it waits, fails or has a result. */
export interface EvaluationUnit {
  readonly uses: Dependencies;
  /** False: the values may come from a Secret and must not be quoted. */
  readonly quotes: boolean;
  /** For a manifest: the expression that can set keys of labels or annotations, if any. */
  readonly computedMetadata: Slot | undefined;
}

/** Templates and their dependencies, shared by all phases of a plan. */
export interface EvaluationPlan
  extends Pick<CompiledTemplates, 'vars' | 'status' | 'reporting' | 'deleteAfter' | 'coverage'> {
  readonly definition: OperatorPlan['definition'];
  readonly reads: ReadonlyMap<string, ReadUnit>;
  readonly children: ReadonlyMap<string, CompiledChild>;
  /** By child. */
  readonly lists: ReadonlyMap<string, ForEach>;
  /** The lists of targets, by patch. */
  readonly targets: ReadonlyMap<string, ForEach>;
  readonly units: ReadonlyMap<CompiledTemplate, EvaluationUnit>;
  readonly missing: MissingValues;
  /** Ids of the children that any expression reads under `observed`. */
  readonly observed: readonly string[];
  /** Whether the definition keeps versions, so that expressions have `history`. */
  readonly keepsHistory: boolean;
}

interface ReadUnit {
  readonly uses: Dependencies;
  readonly optional: boolean;
  readonly quotes: boolean;
  readonly request: RenderRequest;
}

/** Each target is watched, and may be recorded on the resource. */
const maxTargets = 250;

/** Combines templates with their dependencies. */
export function createEvaluationPlan(
  { definition, parts, templates, uses, secrets, types }: PlanContext,
  observed: EvaluationPlan['observed'],
): EvaluationPlan {
  const { vars, reporting, deleteAfter, coverage } = parts;
  // The order in which errors are reported, whatever order the keys are written in.
  const status = new Map([...parts.status].sort(([a], [b]) => (a < b ? -1 : 1)));

  function readUnit(read: CompiledTemplates['reads'][number]): ReadUnit {
    const templates = templatesOfRead(read);
    const quotes = !secrets.reaches(templates);
    const { optional } = read.definition;
    const request = createRenderRequest(read, { vars, quotes });
    return { uses: uses.of(...templates), optional, quotes, request };
  }

  /** `kind`: the kind of the rendered object, if it is one. */
  function unitOf(template: CompiledTemplate, part: PartOf, kind?: Gvk): EvaluationUnit {
    return {
      uses: uses.of(template),
      quotes: !(kind && isSecret(kind)) && !secrets.reaches([template], part),
      computedMetadata: computedMetadataSlot(template),
    };
  }

  function kindOf({ role, template, child, patch }: TemplateUse): Gvk | undefined {
    if (role === 'template') return child?.definition.gvk;
    if (template !== patch?.patch) return undefined;
    return patch.definition.target?.gvk ?? definition.kind.gvk;
  }

  const units = new Map<CompiledTemplate, EvaluationUnit>();
  for (const use of templates) {
    const { template, child, patch } = use;
    const part = { childId: child?.definition.id, patchId: patch?.definition.id };
    units.set(template, unitOf(template, part, kindOf(use)));
  }
  for (const { definition, name } of parts.children) {
    if (name !== undefined) units.set(name, unitOf(name, { childId: definition.id }));
  }
  const children = new Map(parts.children.map((child) => [child.definition.id, child]));
  const isOwnKind = definition.kind.source === 'crd';
  return {
    definition,
    missing: createMissingValues({
      vars,
      children,
      reads: new Map(parts.reads.map((read) => [read.definition.id, read])),
      // The schema of another kind is not the author's: its defaults are no promise of this definition.
      parentsOf: isOwnKind
        ? createOptionalParents(
            types.resource,
            templates.map(({ template }) => template),
          )
        : () => undefined,
      itemParentsOf: isOwnKind ? itemParents(types.resource, templates) : () => undefined,
    }),
    vars,
    status,
    reporting,
    ...(deleteAfter && { deleteAfter }),
    coverage,
    reads: new Map(parts.reads.map((read) => [read.definition.id, readUnit(read)])),
    children,
    lists: new Map(
      parts.children.flatMap(({ definition: { id }, forEach }) =>
        forEach === undefined ? [] : [[id, createForEach(forEach, vars)]],
      ),
    ),
    targets: new Map(
      reporting.patches.flatMap(({ definition: { id }, forEach }) =>
        forEach === undefined ? [] : [[id, createForEach(forEach, vars, maxTargets)]],
      ),
    ),
    units,
    observed,
    keepsHistory: parts.reads.some(({ definition: read }) => read.history !== undefined),
  };
}

/** The entry for an id or a template of the same plan. */
export function requireEntry<Key, T>(parts: ReadonlyMap<Key, T>, key: Key): T {
  const part = parts.get(key);
  invariant(
    part !== undefined,
    `The plan has no ${typeof key === 'string' ? `"${key}"` : 'such template'}`,
  );
  return part;
}

/** Finds the optional objects above the fields of `$item`, by the expressions of the children and patches that have elements. */
function itemParents(
  resource: SchemaType,
  uses: readonly TemplateUse[],
): (slot: Slot) => FindOptionalParents | undefined {
  const bySlot = new Map<Slot, FindOptionalParents>();
  for (const forEach of new Set(uses.map(listOfItems))) {
    if (forEach === undefined) continue;
    const own = uses.filter((use) => listOfItems(use) === forEach).map(({ template }) => template);
    const items = createItemParents(resource, forEach, own);
    if (items === undefined) continue;
    for (const slot of own.flatMap(({ slots }) => slots)) bySlot.set(slot, items.parentsOf);
  }
  return (slot) => bySlot.get(slot);
}
