terraform {
  backend "http" {}
}

variable "environment" {
  type = string
}

resource "terraform_data" "network" {
  input = var.environment
}

output "api_url" {
  value = "https://${terraform_data.network.output}.example.test"
}
