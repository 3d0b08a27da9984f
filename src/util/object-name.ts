/** A segment of a path, as the API server validates names: some kinds allow more than DNS names, for example RBAC. */
export const objectNamePattern = /^(?!\.\.?$)[^\p{Cc}\p{Cf}\p{Z}\p{Cs}/%]{1,253}$/u;
