/** A definition whose resources are records of a DNS server behind HTTP. */
export const recordDefinition = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: records }
spec:
  crd:
    group: shop.example
    names: { kind: Record, plural: records }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            required: [spec]
            properties:
              status: { type: object, properties: { id: { type: string } } }
              spec:
                type: object
                required: [zone, ip]
                properties: { zone: { type: string }, ip: { type: string } }
  children:
    - id: record
      template:
        apiVersion: homeostat.dev/v1alpha1
        kind: HttpObject
        metadata: { name: "\${ metadata.name }" }
        spec:
          endpoint: { name: dns }
          params: { zone: "\${ spec.zone }" }
          desired: { type: A, name: "\${ metadata.name }", content: "\${ spec.ip }" }
          observe: { path: "/zones/{zone}/records/{id}", result: $(body.result) }
          find: { path: "/zones/{zone}/records", results: $(body.result), match: [name] }
          create: { path: "/zones/{zone}/records" }
          update: { path: "/zones/{zone}/records/{id}" }
          delete: { path: "/zones/{zone}/records/{id}" }
          id: $(result.id)
  status:
    id: \${ children.record.status.id }
`;
