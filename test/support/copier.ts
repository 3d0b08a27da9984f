import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneClient } from './control-plane/index.ts';
import { thingDefinition } from './definitions.ts';

/** A definition that makes of every Thing a ConfigMap with its text and the version of the definition; `more` is YAML below `spec`. */
export function copierDefinition(name: string, version: number, more = ''): string {
  return thingDefinition(
    name,
    `  children:
    - id: copy
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-${name}" }
        data: { version: "${version}", text: "\${ spec.text }" }
${more}`,
  );
}

/** Where the copy of Thing `one` is. */
export function copyPath(name: string, namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/one-${name}`;
}

/** Resolves when the copy of Thing `one` was made by that version, and says the text. */
export function untilCopied(
  client: PlaneClient,
  path: string,
  { version, text = 'one' }: { readonly version: number; readonly text?: string },
): Promise<KubeObject | undefined> {
  return client.untilObject(path, (object) => {
    const data = object?.data as Readonly<Record<string, string>> | undefined;
    return data?.version === String(version) && data.text === text;
  });
}
