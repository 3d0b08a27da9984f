import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { LabelRequirement, LabelSelector } from '#util/label-selector.ts';

/** What a selector selects. */
export type SelectorTarget = 'Pod' | 'Service' | 'PersistentVolume' | 'Namespace' | 'any';

export interface FoundSelector {
  /** JSON pointer of the selector in its object. */
  readonly pointer: string;
  readonly selector: LabelSelector;
  readonly target: SelectorTarget;
  /** Does it select in the namespace of its object only? */
  readonly isLocal: boolean;
}

/** Labels that selectors match. */
export interface LabelSet {
  readonly labels: Readonly<Record<string, string>>;
  /** The kind of the objects that have them: `Pod` for a template. */
  readonly kind: string;
}

/** Fields with selectors of something that has no labels of objects: nodes and metrics. */
const otherSelectors: ReadonlySet<string> = new Set(['nodeSelector', 'fieldSelector', 'fieldRef']);
/** Parents of such fields. */
const otherParents: ReadonlySet<string> = new Set(['metric', 'nodeAffinity']);

/** All label selectors of an object. Pure. */
export function selectorsOf(object: KubeObject): readonly FoundSelector[] {
  const found: FoundSelector[] = [];
  const visit = (value: unknown, place: Place): void => {
    const { steps, pointer } = place;
    const field = steps.at(-1) ?? '';
    if (isSelectorField(field, steps.at(-2))) {
      const selector = selectorOf(value);
      const target = targetOf(object.kind, steps);
      const isEmpty = selector !== undefined && sizeOf(selector) === 0;
      // "All" beside another selector, such as the peers of a NetworkPolicy, is no choice by label.
      if (selector !== undefined && !(isEmpty && !ownsSelected(object.kind, steps)))
        found.push({ pointer, selector, target, isLocal: target === 'Pod' });
    }
    if (Array.isArray(value))
      value.forEach((item, index) => {
        visit(item, { steps: [...steps, '[]'], pointer: pointerTo(pointer, String(index)) });
      });
    else if (isJsonObject(value))
      for (const [name, each] of Object.entries(value))
        visit(each, { steps: [...steps, name], pointer: pointerTo(pointer, name) });
  };
  visit(object, { steps: [], pointer: '' });
  return found;
}

interface Place {
  readonly steps: readonly string[];
  readonly pointer: string;
}

function isSelectorField(field: string, parent: string | undefined): boolean {
  if (otherSelectors.has(field) || otherParents.has(parent ?? '')) return false;
  // A map of labels with this name is no selector.
  if (parent === 'labels' || parent === 'annotations' || parent === 'data') return false;
  return field === 'selector' || /[a-z]Selector$/.test(field);
}

const podKinds: ReadonlySet<string> = new Set([
  'Service',
  'Deployment',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'PodDisruptionBudget',
  'NetworkPolicy',
  'PodMonitor',
]);

function targetOf(kind: string, steps: readonly string[]): SelectorTarget {
  const field = steps.at(-1);
  if (field === 'namespaceSelector') return 'Namespace';
  const isOfTemplate = steps.some(
    (step) => /affinity$/i.test(step) || step === 'topologySpreadConstraints',
  );
  if (isOfTemplate || field === 'podSelector') return 'Pod';
  if (kind === 'PersistentVolumeClaim' || steps.includes('volumeClaimTemplates'))
    return 'PersistentVolume';
  if (kind === 'ServiceMonitor') return 'Service';
  return podKinds.has(kind) ? 'Pod' : 'any';
}

/** Does an empty selector give the object all others of its namespace: those that a budget or a policy applies to? */
function ownsSelected(kind: string, steps: readonly string[]): boolean {
  const path = steps.join('.');
  return (
    (kind === 'PodDisruptionBudget' && path === 'spec.selector') ||
    (kind === 'NetworkPolicy' && path === 'spec.podSelector')
  );
}

/** A selector with `matchLabels` and `matchExpressions`, or a map of labels. Undefined: it is none. */
function selectorOf(value: unknown): LabelSelector | undefined {
  if (!isJsonObject(value)) return undefined;
  const { matchLabels, matchExpressions, ...rest } = value;
  if (Object.keys(rest).length === 0)
    return {
      matchLabels: textsOf(matchLabels),
      matchExpressions: Array.isArray(matchExpressions)
        ? matchExpressions.filter(isJsonObject).map(requirementOf)
        : [],
    };
  const isMap = Object.values(value).every((each) => typeof each === 'string');
  return isMap ? { matchLabels: textsOf(value), matchExpressions: [] } : undefined;
}

function requirementOf({ key, operator, values }: JsonObject): LabelRequirement {
  return {
    key: String(key),
    operator: operator as LabelRequirement['operator'],
    values: Array.isArray(values) ? values.map(String) : [],
  };
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, String(each)]));
}

function sizeOf({ matchLabels, matchExpressions }: LabelSelector): number {
  return Object.keys(matchLabels).length + matchExpressions.length;
}

/** The labels of an object, and of the Pods and claims of its templates. Pure. */
export function labelSetsOf(object: KubeObject): readonly LabelSet[] {
  const own = { kind: object.kind, labels: textsOf(object.metadata.labels) };
  const { metadata: _, ...content } = object;
  return [own, ...templatesIn(content)];
}

function templatesIn(value: unknown): readonly LabelSet[] {
  if (Array.isArray(value)) return value.flatMap(templatesIn);
  if (!isJsonObject(value)) return [];
  const { metadata, spec } = value;
  const isPod = isJsonObject(spec) && Array.isArray(spec.containers);
  const labels = isJsonObject(metadata) ? textsOf(metadata.labels) : {};
  const inner = Object.values(value).flatMap(templatesIn);
  return isPod ? [{ kind: 'Pod', labels }, ...inner] : inner;
}
