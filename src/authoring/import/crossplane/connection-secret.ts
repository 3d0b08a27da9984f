import type { Json, JsonObject } from '#util/json.ts';
import { quoted } from '../cel/jsonata.ts';
import type { ImportReport } from '../import-report.ts';
import { permissionOf } from '../permission.ts';
import { type Composite, compositeValue } from './composite.ts';
import type { ComposedTemplate } from './composition.ts';
import { jsonataPath, parseFieldPath } from './field-path.ts';
import { type Tree, templateOf, treeAt } from './template-tree.ts';

/** A composed resource whose child exists. */
export interface ComposedChild {
  readonly id: string;
  readonly template: ComposedTemplate;
  readonly tree: Tree;
}

/** Connection details as a Secret beside the resource, with the reads that it needs. */
export class ConnectionSecret {
  readonly reads: JsonObject[] = [];
  readonly #data: Record<string, Json> = {};
  readonly #composite: Composite;
  readonly #keys: ReadonlySet<unknown> | undefined;
  readonly #report: ImportReport;

  constructor(composite: Composite, keys: Json | undefined, report: ImportReport) {
    this.#composite = composite;
    this.#keys = Array.isArray(keys) ? new Set(keys) : undefined;
    this.#report = report;
  }

  add(child: ComposedChild): void {
    child.template.connectionDetails.forEach((detail, index) => {
      const { label, pointer } = child.template;
      const place = {
        name: `${label}.connectionDetails[${index}]`,
        pointer: `${pointer}/connectionDetails/${index}`,
      };
      const key = String(detail.name ?? detail.fromConnectionSecretKey);
      if (this.#keys?.has(key) === false) {
        this.#report.converted(place, ['never published: "connectionSecretKeys" does not list it']);
        return;
      }
      const value = this.#valueOf(detail, child);
      if (value === undefined) {
        this.#report.leftOut(place, 'The detail has no value that can be found');
        return;
      }
      this.#data[key] = value;
      this.#report.converted(place, [
        this.#composite.isNamespaced
          ? 'a key of a Secret beside the resource'
          : 'a key of a Secret in the namespace that the resource names; "crossNamespace" allows all',
      ]);
    });
  }

  /** The child with the Secret. Undefined: there are no details. */
  get child(): JsonObject | undefined {
    if (Object.keys(this.#data).length === 0) return undefined;
    const { isClaim, isNamespaced } = this.#composite;
    const isLegacy = isClaim || !isNamespaced;
    // Crossplane writes the Secret where the resource asks for one.
    if (isLegacy)
      for (const field of ['name', 'namespace'])
        compositeValue(['spec', 'writeConnectionSecretToRef', field], this.#composite);
    const reference = 'spec.writeConnectionSecretToRef';
    const metadata = {
      name: isLegacy ? `\${ ${reference}.name }` : '${ metadata.name }-connection',
      ...(!isNamespaced && { namespace: `\${ ${reference}.namespace }` }),
    };
    return {
      id: 'connection',
      ...(isLegacy && { when: `\${ $exists(${reference}) }` }),
      ...(!isNamespaced && { crossNamespace: { namespaces: ['*'] } }),
      template: { apiVersion: 'v1', kind: 'Secret', metadata, data: this.#data },
    };
  }

  #valueOf(detail: JsonObject, child: ComposedChild): Json | undefined {
    const { value, fromFieldPath, fromConnectionSecretKey } = detail;
    if (typeof value === 'string') return `\${ $base64encode(${quoted(value)}) }`;
    if (typeof fromFieldPath === 'string') {
      const steps = parseFieldPath(fromFieldPath);
      const path = steps && `children.${child.id}.${jsonataPath(steps)}`;
      return path && `\${ $exists(${path}) ? $base64encode($string(${path})) }`;
    }
    const read = typeof fromConnectionSecretKey === 'string' ? this.#readOf(child) : undefined;
    return read && `\${ reads.${read}.data.${jsonataPath([String(fromConnectionSecretKey)])} }`;
  }

  /** The id of the read of the Secret that the composed resource writes. */
  #readOf({ id, tree }: ComposedChild): string | undefined {
    const reference = treeAt(tree, ['spec', 'writeConnectionSecretToRef']);
    const [name, namespace] = ['name', 'namespace'].map((field) => treeAt(reference, [field]));
    if (name === undefined) return undefined;
    const read = `${id.slice(0, 30)}Connection`;
    if (!this.reads.some((each) => each.id === read)) {
      const place = namespace && templateOf(namespace);
      const permission = typeof place === 'string' ? permissionOf(place) : undefined;
      this.reads.push({
        id: read,
        apiVersion: 'v1',
        kind: 'Secret',
        name: templateOf(name),
        optional: true,
        ...(place !== undefined && { namespace: place }),
        ...(permission !== undefined && { crossNamespace: permission }),
      });
    }
    return read;
  }
}
