terraform {
  backend "local" {}
}

variable "api_url" {
  type = string
}

resource "terraform_data" "app" {
  input = "talks to ${var.api_url}"
}

output "greeting" {
  value = terraform_data.app.output
}
