import type { ReportingParts } from '../reporting-parts.ts';
import type { CompiledTemplate } from '../template/template.ts';

/** What a template of the report is for. `patch`: what is patched and where; the others say when, or are told. */
export type ReportRole = 'condition' | 'event' | 'patchWhen' | 'patch' | 'requeueAfter';

const reportRoles: ReadonlySet<string> = new Set([
  'condition',
  'event',
  'patchWhen',
  'patch',
  'requeueAfter',
] satisfies ReportRole[]);

export interface ReportUse {
  readonly role: ReportRole;
  readonly template: CompiledTemplate;
}

/** Is it a template of the phase *reporting*, the status aside? */
export function isOfReport(role: string): role is ReportRole {
  return reportRoles.has(role);
}

/** Does it see `$previous`? */
export function seesPrevious(role: string): boolean {
  return isOfReport(role) && role !== 'requeueAfter';
}

/** All templates of a report. */
export function reportUses(parts: ReportingParts | undefined): readonly ReportUse[] {
  if (parts === undefined) return [];
  const { conditions, events, patches, requeueAfter } = parts;
  return [
    ...conditions.flatMap(({ status, reason, message }) =>
      usesOf('condition', [status, reason, message]),
    ),
    ...events.flatMap(({ when, reason, message }) => usesOf('event', [when, reason, message])),
    ...patches.flatMap(({ when, name, namespace, patch }) => [
      ...usesOf('patchWhen', [when]),
      ...usesOf('patch', [name, namespace, patch]),
    ]),
    ...usesOf('requeueAfter', [requeueAfter]),
  ];
}

function usesOf(
  role: ReportRole,
  templates: readonly (CompiledTemplate | undefined)[],
): readonly ReportUse[] {
  return templates.flatMap((template) => (template === undefined ? [] : [{ role, template }]));
}
