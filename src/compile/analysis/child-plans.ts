import type { ReadDefinition, ServedKind, SourceMap } from '../../definition/index.ts';
import type { ChildParts, DefinitionParts, ReadParts } from '../definition-parts.ts';
import type { ChildPlan, FieldPath, ReadPlan } from '../operator-plan.ts';
import type { SlotReference } from '../template/template.ts';
import { pathsBelow, shortest, statusPaths } from './read-paths.ts';
import { shapeOfSelector, watchSelectorOf } from './selector-shape.ts';
import type { UsesFinder } from './uses.ts';

export interface PlansOptions {
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  readonly kind: ServedKind;
  readonly source: SourceMap;
}

/** What the runtime needs to know of each child and read. */
export interface Plans {
  readonly children: readonly ChildPlan[];
  readonly reads: readonly ReadPlan[];
  readonly observed: readonly string[];
  readonly statusPathsRead: readonly FieldPath[];
  readonly foreignPathsRead: readonly FieldPath[];
}

/** Sums up what expressions read, by child, by read and of the status. */
export function createPlans({ parts, uses, kind, source }: PlansOptions): Plans {
  const wanting = [
    ...parts.children.flatMap(({ when, forEach, template }) => [when, forEach, template]),
    ...parts.reads.flatMap((read) => [read.name, read.matchLabels, read.matchExpressions]),
  ];
  const readyTemplates = parts.children.map(({ ready }) => ready);
  const byOthers = uses.of(...wanting).references;
  const outsideStatus = uses.of(...wanting, ...readyTemplates).references;
  const anywhere = uses.of(...wanting, ...readyTemplates, ...parts.status.values()).references;

  function childPlan(child: ChildParts): ChildPlan {
    const { definition, pointer, type, when, forEach, template, ready } = child;
    const { id, gvk, after, conflicts, ordered, updateStrategy, adopt } = definition;
    const used = uses.of(when, forEach, template);
    return {
      id,
      gvk,
      isList: forEach !== undefined,
      hasWhen: when !== undefined,
      hasReady: ready !== undefined,
      after,
      childrenRead: used.children,
      readsUsed: used.reads,
      childrenObserved: used.observed,
      ordered,
      updateStrategy,
      adopt,
      conflicts,
      type,
      pathsRead: shortest([
        ...pathsBelow(anywhere, 'children', id),
        ...pathsBelow(anywhere, 'observed', id),
        ...ownPaths(uses.of(ready).references),
      ]),
      pathsReadByOthers: pathsBelow(byOthers, 'children', id),
      pathsObserved: pathsBelow(outsideStatus, 'observed', id),
      line: source.valueAt(pointer).line,
    };
  }

  function readPlan(read: ReadParts): ReadPlan {
    const { id, gvk, by, optional } = read.definition;
    const pathsRead = pathsBelow(anywhere, 'reads', id);
    const where = reachOf(read.definition);
    if (by.kind === 'name') return { id, gvk, by: 'name', optional, pathsRead, ...where };
    const shape = shapeOfSelector(read, parts.vars);
    const watchSelector = watchSelectorOf(shape);
    const indexKey = [...(shape.labels ?? [])].find(([, value]) => value === undefined)?.[0];
    return {
      id,
      gvk,
      by: 'selector',
      optional,
      pathsRead,
      ...where,
      ...(watchSelector === undefined ? {} : { watchSelector }),
      ...(indexKey === undefined ? {} : { indexKey }),
    };
  }

  return Object.freeze({
    children: Object.freeze(parts.children.map((child) => Object.freeze(childPlan(child)))),
    reads: Object.freeze(parts.reads.map((read) => Object.freeze(readPlan(read)))),
    observed: uses.of(...wanting, ...readyTemplates, ...parts.status.values()).observed,
    statusPathsRead: statusPaths(outsideStatus),
    foreignPathsRead: kind.source === 'for' ? statusPaths(anywhere) : [],
  });
}

function reachOf({ from }: ReadDefinition): Pick<ReadPlan, 'reach' | 'selectsNamespaces'> {
  const selectsNamespaces = from.kind === 'selector';
  if (from.kind === 'own') return { reach: 'own', selectsNamespaces };
  const isWide = selectsNamespaces || (from.kind === 'list' && from.namespaces === '*');
  return { reach: isWide ? 'wide' : 'named', selectsNamespaces };
}

/** What `ready` reads of its own `$child`. */
function ownPaths(references: readonly SlotReference[]): readonly FieldPath[] {
  return references.flatMap(({ reference }) =>
    reference.root === 'child' ? [reference.path] : [],
  );
}
