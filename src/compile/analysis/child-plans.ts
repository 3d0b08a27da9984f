import type { OperatorDefinition, ReadDefinition, SourceMap } from '../../definition/index.ts';
import {
  type ChildParts,
  type DefinitionParts,
  type ReadParts,
  templatesOfRead,
} from '../definition-parts.ts';
import type { ChildPlan, FieldPath, OperatorPlan, ReadPlan } from '../operator-plan.ts';
import { templatesOf } from '../reporting-parts.ts';
import type { CompiledTemplate, SlotReference } from '../template/template.ts';
import { isDetached } from './detached.ts';
import { pathsBelow, shortest, statusPaths } from './read-paths.ts';
import { previousStatusPaths } from './reporting-plan.ts';
import type { SecretFlow } from './secret-flow.ts';
import { shapeOfSelector, watchSelectorOf } from './selector-shape.ts';
import type { UsesFinder } from './uses.ts';

export interface PlansOptions {
  readonly parts: DefinitionParts;
  readonly uses: UsesFinder;
  readonly secrets: SecretFlow;
  readonly definition: OperatorDefinition;
  /** Of the resource. */
  readonly scope: OperatorPlan['scope'];
  readonly source: SourceMap;
}

/** What the runtime needs to know of each child and read. */
export interface Plans {
  readonly children: readonly ChildPlan[];
  /** Those of `onDelete`. */
  readonly onDeleteChildren: readonly ChildPlan[];
  readonly reads: readonly ReadPlan[];
  readonly observed: readonly string[];
  readonly statusPathsRead: readonly FieldPath[];
  readonly foreignPathsRead: readonly FieldPath[];
}

/** Sums up what expressions read, by child, by read and of the status. */
export function createPlans({
  parts,
  uses,
  secrets,
  definition,
  scope,
  source,
}: PlansOptions): Plans {
  const wanting = [
    ...parts.children.flatMap(({ when, forEach, template }) => [when, forEach, template]),
    ...parts.reads.flatMap(templatesOfRead),
  ];
  const readyTemplates = parts.children.flatMap(({ ready, deleteWhen }) => [ready, deleteWhen]);
  const byOthers = uses.of(...wanting).references;
  const outsideStatus = uses.of(...wanting, ...readyTemplates).references;
  const reporting = [...parts.status.values(), ...templatesOf(parts.reporting)];
  const anywhere = uses.of(...wanting, ...readyTemplates, ...reporting).references;

  function childPlan(child: ChildParts): ChildPlan {
    const { pointer, type, when, forEach, template, ready, deleteWhen } = child;
    const { id, gvk, after, conflicts, ordered, updateStrategy, adopt } = child.definition;
    const { adoptedPolicy, crossNamespace, deletionPolicy } = child.definition;
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
      adoptedPolicy,
      conflicts,
      crossNamespace,
      deletionPolicy,
      hasDeleteWhen: deleteWhen !== undefined,
      isDetached: isDetached(child.definition, { definition, scope }),
      secrecy: secrets.child(id),
      type,
      pathsRead: shortest([
        ...pathsBelow(anywhere, 'children', id),
        ...pathsBelow(anywhere, 'observed', id),
        ...ownPaths(uses.of(ready, deleteWhen).references),
      ]),
      pathsReadByOthers: pathsBelow(byOthers, 'children', id),
      pathsObserved: pathsBelow(outsideStatus, 'observed', id),
      line: source.valueAt(pointer).line,
    };
  }

  function readPlan(read: ReadParts): ReadPlan {
    const { id, gvk, by, optional } = read.definition;
    const pathsRead = pathsBelow(anywhere, 'reads', id);
    const where = { ...reachOf(read.definition), secrecy: secrets.read(id) };
    if (by.kind === 'name')
      return { id, gvk, by: 'name', ...literalRef(read), optional, pathsRead, ...where };
    const shape = shapeOfSelector(read.selector ?? {}, parts.vars);
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

  const childPlans = (stage: ChildParts['stage']) => {
    const children = parts.children.filter((child) => child.stage === stage);
    return Object.freeze(children.map((child) => Object.freeze(childPlan(child))));
  };
  return Object.freeze({
    children: childPlans('always'),
    onDeleteChildren: childPlans('onDelete'),
    reads: Object.freeze(parts.reads.map((read) => Object.freeze(readPlan(read)))),
    observed: uses.of(...wanting, ...readyTemplates, ...reporting).observed,
    statusPathsRead: shortest([...statusPaths(outsideStatus), ...previousStatusPaths(parts, uses)]),
    foreignPathsRead: definition.kind.source === 'for' ? statusPaths(anywhere) : [],
  });
}

function literalRef({ name, namespace }: ReadParts) {
  const literalName = literalText(name);
  if (literalName === undefined) return {};
  const literalNamespace = literalText(namespace);
  return { literalName, ...(literalNamespace === undefined ? {} : { literalNamespace }) };
}

function literalText(template: CompiledTemplate | undefined): string | undefined {
  const root = template?.root;
  return root?.kind === 'constant' && typeof root.value === 'string' ? root.value : undefined;
}

function reachOf({ from }: ReadDefinition): Pick<ReadPlan, 'reach' | 'selectsNamespaces'> {
  const selectsNamespaces = from.kind === 'selector';
  if (from.kind === 'own') return { reach: 'own', selectsNamespaces };
  const isWide = selectsNamespaces || (from.kind === 'list' && from.namespaces === '*');
  return { reach: isWide ? 'wide' : 'named', selectsNamespaces };
}

/** What `ready` and `deleteWhen` read of their own `$child`. */
function ownPaths(references: readonly SlotReference[]): readonly FieldPath[] {
  return references.flatMap(({ reference }) =>
    reference.root === 'child' ? [reference.path] : [],
  );
}
