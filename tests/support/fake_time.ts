export { FakeTime } from "@kube/informer/testing";
