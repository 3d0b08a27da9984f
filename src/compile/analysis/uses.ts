import type { DefinitionParts } from '../definition-parts.ts';
import { type CompiledTemplate, referencesOf, type SlotReference } from '../template/template.ts';

/** What a template reads, also through the vars that it uses. */
export interface Uses {
  readonly children: readonly string[];
  readonly reads: readonly string[];
  /** Children that it sees under `observed`. */
  readonly observed: readonly string[];
  /** In the order of evaluation. */
  readonly vars: readonly string[];
  /** Its own and those of its vars. */
  readonly references: readonly SlotReference[];
}

/** Tells what templates use. Names that do not exist are left out: they have been reported. */
export interface UsesFinder {
  of(...templates: readonly (CompiledTemplate | undefined)[]): Uses;
}

export function createUsesFinder(parts: DefinitionParts): UsesFinder {
  const childIds = parts.children.map(({ definition }) => definition.id);
  const readIds = parts.reads.map(({ definition }) => definition.id);
  const varNames = [...parts.vars.keys()];
  const own = new Map<CompiledTemplate, readonly SlotReference[]>();

  function ownReferences(template: CompiledTemplate): readonly SlotReference[] {
    let references = own.get(template);
    if (references === undefined) {
      references = referencesOf(template);
      own.set(template, references);
    }
    return references;
  }

  return {
    of(...templates) {
      const children = new Set<string>();
      const reads = new Set<string>();
      const observed = new Set<string>();
      const vars = new Set<string>();
      const entered = new Set<string>();
      const references: SlotReference[] = [];

      function visit(template: CompiledTemplate): void {
        for (const each of ownReferences(template)) {
          references.push(each);
          const { root, path } = each.reference;
          if (root === 'children') for (const id of named(path, childIds)) children.add(id);
          if (root === 'reads') for (const id of named(path, readIds)) reads.add(id);
          if (root === 'observed') for (const id of named(path, childIds)) observed.add(id);
          if (root === 'vars') for (const name of named(path, varNames)) visitVar(name);
        }
      }

      function visitVar(name: string): void {
        // Cycles among vars have been reported; here they only must end.
        if (entered.has(name)) return;
        entered.add(name);
        const template = parts.vars.get(name);
        if (template !== undefined) visit(template);
        // Behind the vars that it uses.
        vars.add(name);
      }

      for (const template of templates) if (template !== undefined) visit(template);
      return {
        children: [...children],
        reads: [...reads],
        observed: [...observed],
        vars: [...vars],
        references,
      };
    },
  };
}

/** The ids that a path means: its first step, or all of them when they are read as a whole. */
export function named(path: readonly string[], ids: readonly string[]): readonly string[] {
  const [id] = path;
  if (id === undefined) return ids;
  return ids.includes(id) ? [id] : [];
}
