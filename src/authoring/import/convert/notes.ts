import { isJsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { TemplateWriter } from './as-template.ts';
import { type Parameter, targetOf } from './parameter.ts';
import { uniqueValues } from './unique-values.ts';

/** What the user should know or do about a manifest. */
export interface ConversionNote {
  readonly message: string;
  readonly hint?: string;
  /** Undefined: it is about all manifests. */
  readonly at?: {
    /** As it was given. */
    readonly object: KubeObject;
    /** JSON pointer in the object. */
    readonly pointer: string;
  };
}

/** Values that a server assigns, and that are left out. */
const assigned = /^\/spec\/(?:ports\/\d+\/nodePort|healthCheckNodePort|clusterIP)$/;

/** A note for each value that the server assigns and a manifest has. Pure. */
export function assignedNotes(
  objects: readonly KubeObject[],
  parameters: readonly Parameter[],
): readonly ConversionNote[] {
  return objects
    .filter(({ kind }) => kind === 'Service')
    .flatMap((object) => {
      const own = parameters.filter((each) => targetOf(each, [object]) !== undefined);
      return (
        uniqueValues(object)
          .filter(({ pointer }) => assigned.test(pointer))
          // A cluster assigns an address to every Service: the user need not know.
          .filter(({ pointer }) => !(pointer.endsWith('clusterIP') && isOfCluster(object)))
          .filter(({ pointer }) => !own.some(({ path }) => pointerOf(object, path) === pointer))
          .map(({ pointer, path }) => ({
            message: `The "${pointer.split('/').at(-1)}" of Service "${object.metadata.name}" is left out, so that the server assigns it: only one Service of a cluster can have the value`,
            hint: `If clients use it, make it a field: --parameter spec.${pointer.split('/').at(-1)}=Service/${object.metadata.name}:${path}`,
            at: { object, pointer },
          }))
      );
    });
}

function isOfCluster({ metadata }: KubeObject): boolean {
  return metadata.uid !== undefined || metadata.resourceVersion !== undefined;
}

function pointerOf(object: KubeObject, path: Parameter['path']): string {
  let value: unknown = object;
  let pointer = '';
  for (const step of path) {
    const key: string | number =
      typeof step !== 'object'
        ? step
        : (value as readonly unknown[]).findIndex(
            (item) => isJsonObject(item) && String(item[step.key]) === step.value,
          );
    value = (value as Readonly<Record<string, unknown>>)[key];
    pointer = pointerTo(pointer, String(key));
  }
  return pointer;
}

/** What happened to texts that contain the name of the instance. */
export function textNotes(
  { computed, uncertain, foreign }: TemplateWriter,
  instance: string,
  sourceOf: (object: KubeObject) => KubeObject,
): readonly ConversionNote[] {
  const at = ({ object, pointer }: { readonly object: KubeObject; readonly pointer: string }) => ({
    at: { object: sourceOf(object), pointer },
  });
  return [
    ...foreign.map((place) => ({
      message: `"${place.name}" is not among the manifests: each resource needs an object of its own, named as its resource`,
      ...at(place),
    })),
    ...computed.map((place) => ({
      message: `The name of the resource takes the place of "${instance}" in a text`,
      ...at(place),
    })),
    ...uncertain.map((place) => ({
      message: `"${instance}" may be the name of the release in a text, and stays there`,
      hint: 'Where it is that name, put "${ metadata.name }" into the definition',
      ...at(place),
    })),
  ];
}
