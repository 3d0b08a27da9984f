/** Ids of children, reads and patches. */
export const idPattern = /^[a-z][A-Za-z0-9]{0,39}$/;

/** A name as an id would be written: `my-service` becomes `myService`. */
export function camelCase(name: string): string {
  const camel = name.replaceAll(/[^A-Za-z0-9]+(.?)/g, (_match, next: string) => next.toUpperCase());
  return camel.charAt(0).toLowerCase() + camel.slice(1);
}
