import type { PlanContext } from '../check-context.ts';
import { type CompiledPatch, isRestore } from '../compiled-templates.ts';
import type { FieldPath } from '../operator-plan.ts';
import type { PatchPlan, ReportingPlan } from '../reporting-plan.ts';
import { fileOf, placeText } from '../template/render-error.ts';
import {
  type CompiledTemplate,
  fieldsOf,
  type SlotReference,
  type TemplateNode,
} from '../template/template.ts';
import { type TemplateUse, templatesFor } from '../template-uses.ts';
import type { DependencyFinder } from './dependencies.ts';

/** Creates the plan of conditions, Events and patches. */
export function createReportingPlan(
  { parts, uses, secrets, scope, diagnostics: { source } }: PlanContext,
  startPhase: ReportingPlan['startPhase'],
): ReportingPlan {
  const { conditions, events, patches, requeueAfter, cron } = parts.reporting;

  function patchPlan({ definition, pointer, type, ...templates }: CompiledPatch): PatchPlan {
    const { id, target, create, crossNamespace, replace, owned } = definition;
    const { patch } = templates;
    return {
      id,
      ...(target?.gvk && { gvk: target.gvk }),
      isRestore: isRestore(definition),
      replaces: replace === true,
      deletes: definition.delete === true,
      setsStatus: definition.status === true,
      atDeletion: definition.atDeletion === true,
      ...(owned && { owned }),
      hasOnce: templates.once !== undefined,
      isList: templates.forEach !== undefined,
      readsHistory: uses.of(...Object.values(templates)).history,
      hasNamespace: target?.namespace !== undefined,
      create,
      isShared: target !== undefined && !isNamedAfterResource(templates),
      crossNamespace,
      secrecy: secrets.patch(id),
      type,
      paths: Object.freeze(pathsSetBy(patch.root).map((path) => Object.freeze(path))),
      // Found when they are read: an edit of a comment moves them.
      get line() {
        return source.valueAt(pointer).line;
      },
      get place() {
        return placeText({ file: fileOf(source), ...source.valueAt(pointer) });
      },
    };
  }

  /** Whether name and namespace of the target are unique to each resource. */
  function isNamedAfterResource({ name, namespace }: Pick<CompiledPatch, 'name' | 'namespace'>) {
    const reads = (template: CompiledTemplate | undefined, field: string) =>
      uses
        .of(template)
        .references.some(
          ({ reference: { root, path } }) =>
            root === 'resource' && path[0] === 'metadata' && path[1] === field,
        );
    const inEither = (field: string) => reads(name, field) || reads(namespace, field);
    const isWithin =
      scope === 'Cluster' || namespace === undefined || reads(namespace, 'namespace');
    return inEither('uid') || (isWithin && inEither('name'));
  }

  return Object.freeze({
    conditionTypes: Object.freeze(conditions.map(({ definition }) => definition.type)),
    hasEvents: events.length > 0,
    hasRequeueAfter: requeueAfter !== undefined,
    hasSchedule: cron !== undefined,
    patches: Object.freeze(patches.map((each) => Object.freeze(patchPlan(each)))),
    startPhase,
  });
}

/**
 * Status fields that conditions and patches read under `$previous`. When Homeostat writes one of them, the result
 * changes in the next reconcile. Other paths already use the new status, and Events report changes, not states.
 */
export function previousStatusPaths(templates: readonly TemplateUse[], uses: DependencyFinder) {
  const reporting = templatesFor(templates, ['condition', 'patchWhen', 'patchList', 'patch']);
  return uses.of(...reporting).references.flatMap(statusPathOf);
}

/** Paths of scalars, lists and computed maps. */
function pathsSetBy(node: TemplateNode): readonly FieldPath[] {
  const fields = fieldsOf(node);
  if (fields === undefined) return [[]];
  return [...fields].flatMap(([name, field]) => pathsSetBy(field).map((path) => [name, ...path]));
}

function statusPathOf({ reference: { root, path } }: SlotReference): readonly FieldPath[] {
  if (root !== 'previous') return [];
  if (path.length === 0) return [['status']];
  return path[0] === 'status' ? [path] : [];
}
