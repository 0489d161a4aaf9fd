// Operations as functions over fetch, in one file.
export default {
  sweep: {
    input: "../../var/openapi/openapi.json",
    output: { target: "../../var/openapi/orval/client.ts", client: "fetch" },
  },
};
