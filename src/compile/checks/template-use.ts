import { type ChildParts, type DefinitionParts, templatesOfRead } from '../definition-parts.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { type ReportRole, reportUses } from './report-uses.ts';

/** A template and what it is for: that decides which names its expressions see. */
export interface TemplateUse {
  readonly role:
    | 'var'
    | 'read'
    | 'when'
    | 'forEach'
    | 'template'
    | 'ready'
    | 'deleteWhen'
    | 'status'
    | ReportRole;
  readonly template: CompiledTemplate;
  /** The child that it belongs to. */
  readonly child?: ChildParts;
}

/** All templates of a definition. */
export function templateUses(parts: DefinitionParts): readonly TemplateUse[] {
  return [
    ...[...parts.vars.values()].map((template): TemplateUse => ({ role: 'var', template })),
    ...parts.reads
      .flatMap(templatesOfRead)
      .map((template): TemplateUse => ({ role: 'read', template })),
    ...parts.children.flatMap((child) =>
      (['when', 'forEach', 'template', 'ready', 'deleteWhen'] as const).flatMap(
        (role): TemplateUse[] => {
          const template = child[role];
          return template === undefined ? [] : [{ role, template, child }];
        },
      ),
    ),
    ...[...parts.status.values()].map((template): TemplateUse => ({ role: 'status', template })),
    ...reportUses(parts.reporting),
  ];
}
