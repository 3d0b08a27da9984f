import { isNestedTooDeep, mostNested, printYaml } from '../../definition/index.ts';
import type { Watcher } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { definitionGvk, isMirror } from '../objects/index.ts';
import { removalOf } from '../removal/removal-terms.ts';
import { sinceMsOf } from './created-ms.ts';
import type { DefinitionSource, SourceText } from './definition-source.ts';
import { createInformerSource } from './informer-source.ts';

/** The `OperatorDefinition` objects that users make; not those that mirror a text of elsewhere. */
export function createObjectSource(cluster: Watcher): DefinitionSource {
  return createInformerSource({
    name: 'OperatorDefinition objects',
    covers: ({ source }) => source === 'object',
    cluster,
    // The same query as that of whoever keeps mirrors: one watch serves both.
    query: { gvk: definitionGvk },
    textsOf: (object) => (isMirror(object) || isGone(object) ? [] : [textOfObject(object)]),
    mayLackKind: true,
  });
}

/** The object as a text: what the user wrote, and nothing that the server adds. */
export function textOfObject(object: KubeObject): SourceText {
  const { apiVersion, kind, metadata, spec } = object;
  const { name, labels, annotations } = metadata;
  const removal = removalOf(object);
  const written = {
    apiVersion,
    kind,
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    ...(spec === undefined ? {} : { spec }),
  };
  return {
    file: `operatordefinition ${name}`,
    ...textOf(written),
    origin: { source: 'object', ref: name },
    sinceMs: sinceMsOf(object),
    ...(removal && { removal }),
  };
}

/** The server takes more than we can write down, and one object must not end the process. */
function textOf(written: object): Pick<SourceText, 'text' | 'unreadable'> {
  if (!isNestedTooDeep(written)) return { text: printYaml(written) };
  return { text: '', unreadable: `More than ${mostNested} lists and maps are inside each other` };
}

/** A user deletes it, and it does not wait for us: whatever it waits for, it is no definition any more. */
function isGone(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined && removalOf(object) === undefined;
}
