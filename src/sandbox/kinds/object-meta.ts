/** The component that `metadata` is one of. */
export const objectMetaComponent = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
