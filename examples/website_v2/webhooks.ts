// webhooks.ts: converts Websites between v1 and v2. An annotation keeps the port, which v1 cannot say.
import { Webhooks } from "@kube/informer/webhooks";
import { OldWebsite, Website } from "./kinds.ts";

const PORT = "example.com/container-port";

export const webhooks = new Webhooks().convert(Website, OldWebsite, {
  toHub: ({ metadata: { annotations }, spec: { image, replicas }, status }) => {
    const { [PORT]: text, ...others } = annotations ?? {};
    const port = Number(text);
    // The annotation stays if a user has written another text there.
    if (String(port) !== text || !Number.isInteger(port)) return { spec: { container: { image }, replicas }, status };
    return { metadata: { annotations: others }, spec: { container: { image, port }, replicas }, status };
  },
  fromHub: ({ metadata: { annotations }, spec: { container, replicas }, status }) => {
    const converted = { spec: { image: container?.image, replicas }, status };
    if (container?.port === undefined) return converted;
    return { ...converted, metadata: { annotations: { ...annotations, [PORT]: String(container.port) } } };
  },
});
