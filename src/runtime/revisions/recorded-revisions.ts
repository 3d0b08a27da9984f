import { createDefinitionParser, type LocatedDefinition } from '../../definition/index.ts';
import type { Informer } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { DefinitionOrigin } from '../wanted-definition.ts';
import { definitionOf, newestFirst, originOfRevision, readRevision } from './revision-object.ts';

export interface RecordedRevisionsOptions {
  readonly logger: Logger;
  /** Is a record of a text there this process's? */
  readonly keeps: (origin: DefinitionOrigin | undefined) => boolean;
}

/** What is on record now, without what other runtimes keep beside it. */
export class RecordedRevisions {
  readonly #options: RecordedRevisionsOptions;
  readonly #parser = createDefinitionParser();
  /** By UID: the data of one never changes. Undefined: this version of Homeostat cannot read it. */
  #read: ReadonlyMap<string, LocatedDefinition | undefined> = new Map();
  /** Undefined: they may not be seen. */
  informer: Informer | undefined;

  constructor(options: RecordedRevisionsOptions) {
    this.#options = options;
  }

  /** Those of one definition, the newest first. */
  of(name: string): readonly KubeObject[] {
    return this.#ours.filter((object) => definitionOf(object) === name);
  }

  get names(): readonly string[] {
    return this.#ours.map(definitionOf);
  }

  /** By name, the newest first, as far as they can be read: what cannot be, after an upgrade, is no reason to run nothing. */
  all(): ReadonlyMap<string, readonly LocatedDefinition[]> {
    const all = new Map<string, LocatedDefinition[]>();
    const read = new Map<string, LocatedDefinition | undefined>();
    for (const object of this.#ours) {
      const { uid = '' } = object.metadata;
      const located = this.#read.has(uid) ? this.#read.get(uid) : this.#readOne(object);
      read.set(uid, located);
      if (located === undefined) continue;
      const name = definitionOf(object);
      all.set(name, [...(all.get(name) ?? []), located]);
    }
    this.#read = read;
    return all;
  }

  get #ours(): readonly KubeObject[] {
    const objects = Array.from(this.informer?.list() ?? [], ({ object }) => object);
    return newestFirst(objects.filter((each) => this.#options.keeps(originOfRevision(each))));
  }

  #readOne(object: KubeObject): LocatedDefinition | undefined {
    const located = readRevision(object, this.#parser);
    if (typeof located !== 'string') return located;
    const about = { revision: object.metadata.name, reason: located };
    this.#options.logger.warn(about, 'Revision on record cannot be used any more');
    return undefined;
  }
}
