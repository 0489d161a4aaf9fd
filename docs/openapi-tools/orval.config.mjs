// Operations as functions over fetch, in one file.
export default {
  sweep: {
    input: "../../var/openapi.json",
    output: { target: "../../var/generated/orval/client.ts", client: "fetch" },
  },
};
