import {
  type CompiledChild,
  type CompiledPatch,
  type CompiledTemplates,
  templatesOfRead,
  variantsOf,
} from './compiled-templates.ts';
import type { CompiledTemplate } from './template/template.ts';

/** The purpose of a template. `patch`: the fields or the target of a patch. */
type TemplateRole =
  | 'var'
  | 'read'
  | 'when'
  | 'forEach'
  | 'cluster'
  | 'kind'
  | 'template'
  | 'ready'
  | 'gate'
  | 'deleteWhen'
  | 'status'
  | 'deleteAfter'
  | ReportRole;

type ReportRole =
  | 'condition'
  | 'event'
  | 'patchWhen'
  | 'patchList'
  | 'patch'
  | 'requeueAfter'
  | 'schedule';

/** A template with its role, which determines the names that its expressions can use. */
export interface TemplateUse {
  readonly role: TemplateRole;
  readonly template: CompiledTemplate;
  /** The child that it belongs to. */
  readonly child?: CompiledChild;
  /** The patch that it belongs to. */
  readonly patch?: CompiledPatch;
}

/** All templates of a definition. */
export function templateUses(parts: CompiledTemplates): readonly TemplateUse[] {
  const { conditions, events, patches, requeueAfter, cron } = parts.reporting;
  return [
    ...usesOf('var', [...parts.vars.values()]),
    ...usesOf('read', parts.reads.flatMap(templatesOfRead)),
    ...parts.children.flatMap((child) =>
      (
        ['when', 'forEach', 'cluster', 'kind', 'template', 'ready', 'gate', 'deleteWhen'] as const
      ).flatMap((role) => usesOf(role, [child[role]], { child })),
    ),
    ...parts.children.flatMap((child) =>
      variantsOf(child)
        .slice(1)
        .flatMap((variant) => usesOf('template', [variant.template], { child: variant })),
    ),
    ...usesOf('status', [...parts.status.values()]),
    ...usesOf('deleteAfter', [parts.deleteAfter?.ttl, parts.deleteAfter?.since]),
    ...conditions.flatMap(({ status, reason, message }) =>
      usesOf('condition', [status, reason, message]),
    ),
    ...events.flatMap(({ when, reason, message }) => usesOf('event', [when, reason, message])),
    ...patches.flatMap((patch) => [
      ...usesOf('patchWhen', [patch.when], { patch }),
      ...usesOf('patchList', [patch.forEach], { patch }),
      ...usesOf('patch', [...targetTemplates(patch), patch.once, patch.patch], { patch }),
    ]),
    ...usesOf('requeueAfter', [requeueAfter]),
    ...usesOf('schedule', [cron]),
  ];
}

/** The templates of the target of a patch. */
export function targetTemplates(patch: CompiledPatch): readonly (CompiledTemplate | undefined)[] {
  return [patch.apiVersion, patch.kind, patch.name, patch.namespace];
}

/** The list whose elements are `$item`. Undefined: the template belongs to no child and no patch with `forEach`. */
export function listOfItems({
  child,
  patch,
}: Pick<TemplateUse, 'child' | 'patch'>): CompiledTemplate | undefined {
  return child === undefined ? patch?.forEach : child.forEach;
}

/** The templates with one of these roles. */
export function templatesFor(
  templates: readonly TemplateUse[],
  roles: readonly TemplateRole[],
): readonly CompiledTemplate[] {
  return templates.flatMap(({ role, template }) => (roles.includes(role) ? [template] : []));
}

/** Whether it belongs to the *reporting* phase, apart from the status. */
export function isReportTemplate({ role }: TemplateUse): boolean {
  return canUsePrevious(role) || role === 'requeueAfter' || role === 'schedule';
}

/** Whether its result must be true or false. */
export function isCondition({ role }: TemplateUse): boolean {
  return ['when', 'ready', 'gate', 'deleteWhen', 'patchWhen'].includes(role);
}

/** Whether its expressions can use `$previous`. */
export function canUsePrevious(role: TemplateRole): boolean {
  return ['condition', 'event', 'patchWhen', 'patchList', 'patch'].includes(role);
}

function usesOf(
  role: TemplateRole,
  templates: readonly (CompiledTemplate | undefined)[],
  owner: Pick<TemplateUse, 'child' | 'patch'> = {},
): readonly TemplateUse[] {
  return templates.flatMap((template) =>
    template === undefined ? [] : [{ role, template, ...owner }],
  );
}
