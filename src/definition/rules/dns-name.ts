/** RFC 1123 label: may start with a digit. */
export function isDnsLabel(value: string): boolean {
  return value.length <= 63 && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(value);
}

/** RFC 1035 label: starts with a letter. */
export function isDnsLabel1035(value: string): boolean {
  return isDnsLabel(value) && /^[a-z]/.test(value);
}

/** RFC 1123 labels joined by dots, at most 253 characters. */
export function isDnsSubdomain(value: string): boolean {
  return (
    value.length <= 253 &&
    /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/.test(value)
  );
}
