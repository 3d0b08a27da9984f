import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { isLabelValue } from '#util/label-selector.ts';
import { sha256Hex } from '#util/sha256.ts';

interface RuntimeNameOptions {
  /** Name from the user. @default undefined: the name is derived from the namespace or the paths */
  readonly runtime?: string;
  readonly namespace: string;
  readonly leaseName: string;
  /** Whether the namespace belongs to this runtime. */
  readonly ownsNamespace: boolean;
  /** Directories and files, as the user wrote them. */
  readonly definitions?: readonly string[];
  /** Namespace of the ConfigMaps with definitions. @default `namespace` */
  readonly definitionsNamespace?: string;
}

/** Maximum length of a label value. */
const maxLabelLength = 63;

/**
 * The name of a runtime, as a label value: the same for all its replicas and from start to start, and another one for every other runtime
 * in a cluster.
 */
export function runtimeName(options: RuntimeNameOptions): string {
  const { runtime, namespace, leaseName, ownsNamespace } = options;
  const { definitions = [], definitionsNamespace = namespace } = options;
  if (runtime !== undefined) return toLabelValue(runtime);
  if (ownsNamespace) return toLabelValue(`${namespace}.${leaseName}`);
  const places = [definitionsNamespace, ...definitions.map((path) => resolve(path)).sort()];
  return toLabelValue(`${hostname()}.${sha256Hex(places.join('\0')).slice(0, 10)}`);
}

/** A name as the label that carries it: characters or a length that a label value cannot have are replaced by a digest. */
export function toLabelValue(name: string): string {
  if (name.length <= maxLabelLength && isLabelValue(name)) return name;
  return sha256Hex(name).slice(0, 40);
}
