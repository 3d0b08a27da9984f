import type { CompiledTemplates } from '../compiled-templates.ts';
import type { CompiledTemplate, SlotReference } from '../template/template.ts';

/** The dependencies of templates, including those of the vars they use. */
export interface Dependencies {
  readonly children: readonly string[];
  readonly reads: readonly string[];
  /** Children read under `observed`. */
  readonly observed: readonly string[];
  /** In the order of evaluation. */
  readonly vars: readonly string[];
  /** Whether they read `history`. Only in a definition that keeps versions. */
  readonly history: boolean;
  /** Whether they read the present: `$now()`, `$millis()`, `$nextTime()`. */
  readonly present: boolean;
  /** References of the templates and of their vars. */
  readonly references: readonly SlotReference[];
}

/** Finds the dependencies of templates. Unknown names are ignored, because they have been reported. */
export interface DependencyFinder {
  of(...templates: readonly (CompiledTemplate | undefined)[]): Dependencies;
}

export function createDependencyFinder(parts: CompiledTemplates): DependencyFinder {
  const childIds = parts.children.map(({ definition }) => definition.id);
  const readIds = parts.reads.map(({ definition }) => definition.id);
  const varNames = [...parts.vars.keys()].sort();
  const keepsHistory = parts.reads.some(({ definition }) => definition.history !== undefined);

  return {
    of(...templates) {
      const children = new Set<string>();
      const reads = new Set<string>();
      const observed = new Set<string>();
      const vars = new Set<string>();
      const entered = new Set<string>();
      const references: SlotReference[] = [];

      function visit(template: CompiledTemplate): void {
        for (const each of template.references) {
          references.push(each);
          const { root, path } = each.reference;
          if (root === 'children') for (const id of idsOfPath(path, childIds)) children.add(id);
          if (root === 'reads') for (const id of idsOfPath(path, readIds)) reads.add(id);
          if (root === 'observed') for (const id of idsOfPath(path, childIds)) observed.add(id);
          if (root === 'vars') for (const name of idsOfPath(path, varNames)) visitVar(name);
        }
      }

      function visitVar(name: string): void {
        // Cycles among vars have been reported; stop here.
        if (entered.has(name)) return;
        entered.add(name);
        const template = parts.vars.get(name);
        if (template !== undefined) visit(template);
        // Added after the vars it uses.
        vars.add(name);
      }

      for (const template of templates) if (template !== undefined) visit(template);
      return {
        children: [...children],
        reads: [...reads],
        observed: [...observed],
        vars: [...vars],
        references,
        history: keepsHistory && references.some(mayReadHistory),
        present: references.some(({ reference: { root } }) => root === 'now'),
      };
    },
  };
}

/**
 * Whether a reference may read `history`. In the syntax it is a field of the resource. An expression that may read
 * everything also reads all vars.
 */
function mayReadHistory({ reference: { root, path } }: SlotReference): boolean {
  if (root === 'resource') return path[0] === 'history';
  return root === 'vars' && path.length === 0;
}

/** The ids that a path refers to: its first step, or all ids if the path is empty. */
export function idsOfPath(path: readonly string[], ids: readonly string[]): readonly string[] {
  const [id] = path;
  if (id === undefined) return ids;
  return ids.includes(id) ? [id] : [];
}
