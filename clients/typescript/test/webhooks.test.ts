// Endpoints are added, changed, tried and deleted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isRefusal } from "../src/server.ts";
import { server } from "./world.ts";

test("an endpoint lives through its operations, and its secret is shown when it is made and renewed", async () => {
  const { webhooks } = server();
  const made = await webhooks.create({ url: "http://127.0.0.1:9/hooks", types: ["sweep.completed"] });
  const webhookId = made.endpoint.id;
  assert.match(made.secret, /^whsec_/);
  assert((await webhooks.list()).items.some((one) => one.id === webhookId));
  assert.equal((await webhooks.update(webhookId, { description: "orders" })).description, "orders");
  assert.equal((await webhooks.get(webhookId)).description, "orders");
  assert.notEqual((await webhooks.rotateSecret(webhookId)).secret, made.secret);
  await webhooks.ping(webhookId);
  const { value: delivery } = await webhooks.deliveries(webhookId).next();
  assert.equal(delivery?.type, "webhook.ping");
  await webhooks.delete(webhookId);
  await assert.rejects(webhooks.get(webhookId), (error) => isRefusal(error, "webhook_not_found"));
});

test("a month that is not over has no statement", async () => {
  await assert.rejects(server().statement("2999-01"), (error) => isRefusal(error));
});
