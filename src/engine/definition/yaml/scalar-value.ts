import { isScalar, type Scalar } from 'yaml';
import {
  type KubectlScalar,
  kubectlFieldName,
  kubectlScalar,
  mayBeNoString,
  taggedScalar,
} from './kubectl-scalars.ts';

/**
 * How a text is read. Definitions are YAML 1.2. Everything else that may also be given to kubectl means what it means to kubectl:
 * manifests, samples, tests with objects, bodies of requests.
 */
export type YamlReading = 'definition' | 'kubectl';

/** The value of a scalar. Undefined: the text is no value of the type of its tag. */
export function scalarValue(node: Scalar, reading: YamlReading): KubectlScalar | undefined {
  const { tag, source = '' } = node;
  if (reading === 'kubectl' && tag !== undefined) return taggedScalar(tag, source);
  return node.value as KubectlScalar;
}

/** The name of the field of a key. Undefined: it is no field name. */
export function fieldName(key: unknown, reading: YamlReading): string | undefined {
  if (!isScalar(key)) return undefined;
  const value = scalarValue(key, reading);
  if (value === undefined || value === null) return undefined;
  const isText = typeof value === 'string';
  return isText || reading === 'definition'
    ? String(value)
    : kubectlFieldName(value, key.source ?? '');
}

/** Whether the fields of the value become fields of the map. */
export function isMergeKey(key: unknown): boolean {
  if (!isScalar(key) || key.source !== '<<') return false;
  return key.tag === undefined ? key.type === 'PLAIN' : key.tag === 'tag:yaml.org,2002:merge';
}

/** What kubectl reads instead of the value of a plain scalar or key. Undefined: the same. */
export function otherReading(node: Scalar): { readonly value: KubectlScalar } | undefined {
  const { type, tag, source, value } = node;
  if (type !== 'PLAIN' || tag !== undefined || source === undefined) return undefined;
  if (!mayBeNoString.test(source)) return undefined;
  const other = kubectlScalar(source);
  const isSame = Object.is(other, value) || (other === 0 && value === 0);
  return isSame || typeof other === 'bigint' ? undefined : { value: other };
}

/** `a string`, `the number 256`. */
export function describeScalar(value: unknown): string {
  if (value === null) return 'nothing';
  if (typeof value === 'string') return 'a string';
  return `the ${typeof value === 'bigint' ? 'number' : typeof value} ${String(value)}`;
}
