import { decodeBase64 } from '#util/base64.ts';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { applicationLabels, type Instance } from './instance-name.ts';
import { expressionOf, InstanceText, keyOf, type TextRole, templateOf } from './instance-text.ts';
import { hasFreeKeys, roleAt } from './text-role.ts';

export interface TemplateOptions {
  /** Undefined: the objects have no common name. Then all of their texts stay. */
  readonly instance: Instance | undefined;
  readonly objects: readonly KubeObject[];
  /** Namespace of the objects that is that of the resource. Undefined: there is none. */
  readonly namespace: string | undefined;
}

/** A place where the name of the instance has become an expression, or may have to. */
interface TextPlace {
  readonly object: KubeObject;
  readonly pointer: string;
}

/** Converts objects to templates: the name of the instance becomes an expression. */
export class TemplateWriter {
  /** Where a text that anyone may have written is computed. */
  readonly computed: TextPlace[] = [];
  /** Where the name of the instance stays, because it may mean something else. */
  readonly uncertain: TextPlace[] = [];
  /** References to objects that are not among the manifests. */
  readonly foreign: (TextPlace & { readonly name: string })[] = [];
  readonly #text: InstanceText | undefined;
  readonly #namespace: string | undefined;
  /** Keys of labels whose value is the application. */
  readonly #applicationKeys: ReadonlySet<string>;

  constructor({ instance, objects, namespace }: TemplateOptions) {
    this.#namespace = namespace;
    this.#text =
      instance && new InstanceText({ instance, objects, namespace: namespace ?? 'default' });
    this.#applicationKeys =
      instance === undefined ? new Set() : applicationKeys(objects, instance.name);
  }

  write(object: KubeObject): JsonObject {
    return this.#value(object, { object, path: [], pointer: '' }) as JsonObject;
  }

  #value(value: unknown, place: Place): unknown {
    if (typeof value === 'string') return this.#leaf(value, place);
    if (Array.isArray(value))
      return value.map((item, index) => this.#value(item, below(place, '[]', String(index))));
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).map(([name, each]) => {
      const inner = below(place, name);
      const key = this.#key(name, place, inner);
      const moved = this.#namespaceOf(value, name, each) ?? this.#namespacesOf(value, name, each);
      return [key, moved ?? this.#value(each, inner)];
    });
    return Object.fromEntries(entries);
  }

  #key(name: string, place: Place, inner: Place): string {
    const text = this.#text;
    if (text === undefined || !hasFreeKeys(place.path)) return keyOf(name, []);
    const { parts, isUncertain } = text.find(name, 'text');
    if (isUncertain) this.uncertain.push(inner);
    return keyOf(name, parts);
  }

  #leaf(value: string, place: Place): unknown {
    const role = roleAt(place.path);
    const text = this.#text;
    if (role === undefined || text === undefined) return templateOf(value, []);
    if (role === 'label' && this.#isApplication(value, place.path)) return templateOf(value, []);
    if (isEncoded(place)) return this.#encoded(value, place);
    if (value === this.#namespace && isNamespaceList(place.path)) return namespaceExpression;
    const { parts, isUncertain } = text.find(value, role);
    this.#note(value, place, { role, isComputed: parts.length > 0, isUncertain });
    return templateOf(value, parts);
  }

  /** Base64. */
  #encoded(value: string, place: Place): unknown {
    const text = decodeBase64(value);
    const { parts, isUncertain } =
      text === undefined ? nothing : (this.#text?.find(text, 'text') ?? nothing);
    if (text === undefined) return value;
    this.#note(text, place, { role: 'text', isComputed: parts.length > 0, isUncertain });
    return parts.length === 0 ? value : `\${ $base64encode(${expressionOf(text, parts)}) }`;
  }

  #note(
    value: string,
    place: Place,
    found: { readonly role: TextRole; readonly isComputed: boolean; readonly isUncertain: boolean },
  ): void {
    const { role, isComputed, isUncertain } = found;
    if (isUncertain && role !== 'label' && role !== 'class') this.uncertain.push(place);
    const text = this.#text;
    if (!isComputed || text === undefined || text.isName(value)) return;
    if (role === 'reference') this.foreign.push({ ...place, name: value });
    else if (role === 'text' && !text.instance.isDistinctive) return;
    else if (role === 'text') this.computed.push(place);
  }

  #isApplication(value: string, path: readonly string[]): boolean {
    return value === this.#text?.instance.name && this.#applicationKeys.has(path.at(-1) ?? '');
  }

  /** The namespace of the resource, beside the name of one of its objects, or where a field can only be a namespace. */
  #namespaceOf(owner: JsonObject, name: string, value: unknown): string | undefined {
    if (this.#namespace === undefined || value !== this.#namespace) return undefined;
    const isOfObject = name === 'namespace' && this.#isOwn(owner.name ?? owner.serviceName);
    const isVariable =
      name === 'value' && typeof owner.name === 'string' && /namespace$/i.test(owner.name);
    const isName = name === 'kubernetes.io/metadata.name';
    return isOfObject || isVariable || isName ? namespaceExpression : undefined;
  }

  /** The values of a selector of namespaces by their names. */
  #namespacesOf(owner: JsonObject, name: string, values: unknown): readonly unknown[] | undefined {
    const isByName = name === 'values' && owner.key === 'kubernetes.io/metadata.name';
    if (!isByName || this.#namespace === undefined || !Array.isArray(values)) return undefined;
    return values.map((each) => (each === this.#namespace ? namespaceExpression : each));
  }

  #isOwn(name: unknown): boolean {
    if (typeof name !== 'string') return false;
    return (this.#text?.find(name, 'reference').parts.length ?? 0) > 0;
  }
}

interface Place extends TextPlace {
  readonly path: readonly string[];
}

const namespaceExpression = '${ metadata.namespace }';
const nothing = { parts: [], isUncertain: false } as const;

function below({ object, path, pointer }: Place, step: string, index = step): Place {
  return { object, path: [...path, step], pointer: pointerTo(pointer, index) };
}

/** A list of names of namespaces, such as in the `namespaceSelector` of a ServiceMonitor. */
function isNamespaceList(path: readonly string[]): boolean {
  return /^(?:matchNames|namespaces)$/.test(path.at(-2) ?? '') && path.at(-1) === '[]';
}

function isEncoded({ object: { kind }, path }: Place): boolean {
  const [field] = path;
  return path.length === 2 && (field === 'binaryData' || (field === 'data' && kind === 'Secret'));
}

/**
 * The labels that name the application, although its name is also that of the instance: they stay where each selector that uses them has
 * another label with the instance.
 */
function applicationKeys(objects: readonly KubeObject[], instance: string): ReadonlySet<string> {
  const maps = objects.flatMap((object) => selectorsIn(object));
  const isComputed = ([key, value]: readonly [string, unknown]) =>
    !applicationLabels.has(key) && value === instance;
  const hasInstance = objects.some((object) =>
    labelMapsIn(object).some((map) => Object.entries(map).some(isComputed)),
  );
  const keys = [...applicationLabels].filter((key) =>
    maps.every((map) => map[key] !== instance || Object.entries(map).some(isComputed)),
  );
  return new Set(hasInstance ? keys : []);
}

function selectorsIn(value: unknown, field = ''): readonly JsonObject[] {
  return mapsIn(value, field, (name) => name === 'matchLabels' || name === 'selector');
}

function labelMapsIn(value: unknown): readonly JsonObject[] {
  return mapsIn(value, '', (name) => name === 'labels');
}

function mapsIn(
  value: unknown,
  field: string,
  isMap: (field: string) => boolean,
): readonly JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((item) => mapsIn(item, '', isMap));
  if (!isJsonObject(value)) return [];
  const inner = Object.entries(value).flatMap(([name, each]) => mapsIn(each, name, isMap));
  return isMap(field) ? [value, ...inner] : inner;
}
