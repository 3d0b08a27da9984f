import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { KindRegistry } from '../kinds/kind-registry.ts';
import { selectorMatches } from '../kinds/selector-rules.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import type { AdmissionRequest } from '../rest/rest-context.ts';

/** What decides whether a request matches, besides the request itself. */
export interface MatchContext {
  readonly kinds: KindRegistry;
  /** The labels of the namespace of the request; undefined = it has none. */
  readonly namespaceLabels: JsonObject | undefined;
}

/**
 * Whether `matchConstraints` or `matchResources` select a request: returns the kind in whose version they name it. Undefined: they do not.
 */
export function matchRequest(
  match: JsonObject,
  request: AdmissionRequest,
  context: MatchContext,
): ServedKind | undefined {
  const { namespaceLabels } = context;
  const selector = (name: string) => objectField(match, name) ?? {};
  if (
    namespaceLabels !== undefined &&
    !selectorMatches(selector('namespaceSelector'), namespaceLabels)
  )
    return undefined;
  if (!matchesObject(selector('objectSelector'), request)) return undefined;
  if (kindNamedBy(match, 'excludeResourceRules', request, context) !== undefined) return undefined;
  if (listField(match, 'resourceRules').length === 0) return request.target.kind;
  return kindNamedBy(match, 'resourceRules', request, context);
}

/** The new or the old object has the labels; a selector without requirements also matches without an object. */
function matchesObject(selector: JsonObject, { object, oldObject }: AdmissionRequest): boolean {
  const requirements = [
    ...Object.keys(objectField(selector, 'matchLabels') ?? {}),
    ...listField(selector, 'matchExpressions'),
  ];
  if (requirements.length === 0) return true;
  return [object, oldObject].some((each) => {
    if (each === undefined) return false;
    const labels = objectField(objectField(each, 'metadata') ?? {}, 'labels');
    return selectorMatches(selector, labels ?? {});
  });
}

function kindNamedBy(
  match: JsonObject,
  field: 'resourceRules' | 'excludeResourceRules',
  request: AdmissionRequest,
  { kinds }: MatchContext,
): ServedKind | undefined {
  const rules = listField(match, field).filter(isJsonObject);
  const { kind } = request.target;
  if (rules.some((rule) => ruleMatches(rule, request, kind))) return kind;
  if (stringField(match, 'matchPolicy') === 'Exact') return undefined;
  const equivalents = kinds
    .all()
    .filter((other) => other !== kind && other.collection === kind.collection);
  for (const rule of rules) {
    const found = equivalents.find((other) => ruleMatches(rule, request, other));
    if (found !== undefined) return found;
  }
  return undefined;
}

function ruleMatches(rule: JsonObject, request: AdmissionRequest, kind: ServedKind): boolean {
  const { names } = kind;
  const { operation, target } = request;
  const has = (field: string, ...values: readonly string[]) =>
    listField(rule, field).some((value) => value === '*' || values.includes(String(value)));
  const resources = listField(rule, 'resources').map(String);
  const resourceNames = listField(rule, 'resourceNames');
  return (
    matchesScope(stringField(rule, 'scope') ?? '*', names.namespaced) &&
    has('operations', operation) &&
    has('apiGroups', names.group) &&
    has('apiVersions', names.version) &&
    resources.some((resource) => matchesResource(resource, names.plural, target.subresource)) &&
    (resourceNames.length === 0 || resourceNames.includes(nameOf(request)))
  );
}

function matchesScope(scope: string, isNamespaced: boolean): boolean {
  return scope === '*' || (scope === 'Namespaced') === isNamespaced;
}

function matchesResource(text: string, plural: string, subresource: string): boolean {
  const [resource, ofRule = ''] = text.split(/\/(.*)/s);
  return (resource === '*' || resource === plural) && (ofRule === '*' || ofRule === subresource);
}

/** The name in the request, or that of the new object; empty while the server makes one up. */
export function nameOf({ target, object }: AdmissionRequest): string {
  if (target.name !== '') return target.name;
  return stringField(objectField(object ?? {}, 'metadata') ?? {}, 'name') ?? '';
}
