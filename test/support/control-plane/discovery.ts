/** What discovery tells of one kind. */
export interface KindInfo {
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Reads an APIResourceList; subresources are left out. */
export function parseKinds(resourceList: unknown): readonly KindInfo[] {
  const { resources } = resourceList as ResourceList;
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced }) => ({ kind, plural: name, namespaced }));
}

interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}
